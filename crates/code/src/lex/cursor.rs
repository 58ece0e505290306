//! A place in a text.

use std::collections::BTreeSet;

use crate::token::{Kind, Token, mark};

pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.rest().chars().nth(ahead)
    }

    pub(super) fn before(&self) -> Option<char> {
        self.text.get(..self.at).unwrap_or_default().chars().next_back()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Steps over the prefix, if the rest starts with it.
    pub(super) fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|character| !wanted(character)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// To the end of the line, which is left.
    pub(super) fn skip_line(&mut self) {
        self.take_while(|character| character != '\n');
    }

    /// The rest of the line, without its end, which is taken.
    pub(super) fn line(&mut self) -> &'t str {
        let line = self.take_while(|character| character != '\n');
        self.next();
        line
    }

    /// Past the next place where this stands; false, and at the end, where it stands nowhere.
    pub(super) fn skip_past(&mut self, end: &str) -> bool {
        let rest = self.rest();
        let found = rest.find(end);
        self.at += found.map_or(rest.len(), |place| place + end.len());
        found.is_some()
    }

    /// Behind the next line that begins with this word; false, and at the end, where none does.
    pub(super) fn skip_past_line(&mut self, word: &str) -> bool {
        loop {
            self.line();
            if self.peek().is_none() {
                return false;
            }
            let is_it = |rest: &str| !rest.starts_with(|next: char| next == '_' || next.is_alphanumeric());
            if self.rest().strip_prefix(word).is_some_and(is_it) {
                self.skip_line();
                return true;
            }
        }
    }

    /// Over this many bytes.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub(super) fn finish(&mut self) {
        self.at = self.text.len();
    }

    pub(super) fn starts_line(&self) -> bool {
        matches!(self.before(), None | Some('\n'))
    }

    /// White space other than line ends; whether there was any.
    pub(super) fn skip_blanks(&mut self) -> bool {
        !self.take_while(|character| character.is_whitespace() && character != '\n').is_empty()
    }

    /// A number; its value, where that is a whole one in plain digits. With a zero before them they mean another.
    pub(super) fn number(&mut self) -> Option<usize> {
        let digits = self.take_while(|character| character.is_alphanumeric() || character == '_');
        let mut number = digits.parse().ok().filter(|_| digits.len() == 1 || !digits.starts_with('0'));
        while self.peek() == Some('.') && self.peek_at(1).is_some_and(|digit| digit.is_ascii_digit()) {
            number = None;
            self.next();
            self.take_while(|character| character.is_alphanumeric() || character == '_');
        }
        number
    }

    /// Punctuation. A character that is none is stepped over.
    pub(super) fn mark(&mut self) -> Option<&'static str> {
        let found = mark(self.rest());
        match found {
            Some(mark) => self.at += mark.len(),
            None => {
                self.next();
            }
        }
        found
    }

    /// What an escape stands for; the backslash is taken already. None where it is not understood.
    pub(super) fn escape(&mut self, into: &mut String) -> Option<()> {
        let character = match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'e' => '\u{1b}',
            // The line goes on.
            '\n' => return Some(()),
            first @ '0'..='7' => {
                let mut value = first.to_digit(8)?;
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|digit| digit.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    self.next();
                }
                char::from_u32(value)?
            }
            'x' | 'u' if self.peek() == Some('{') => self.braced()?,
            'x' => self.hexadecimal(2)?,
            'u' => self.hexadecimal(4)?,
            'U' => self.hexadecimal(8)?,
            // Names of characters, control characters.
            'N' | 'c' | 'C' | 'M' => return None,
            other => other,
        };
        into.push(character);
        Some(())
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<char> {
        let mut value = 0;
        for _ in 0..digits {
            value = value * 16 + self.peek()?.to_digit(16)?;
            self.next();
        }
        char::from_u32(value)
    }

    fn braced(&mut self) -> Option<char> {
        self.next();
        let digits = self.take_while(|digit| digit.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok()?;
        self.take("}").then(|| char::from_u32(value))?
    }
}

/// How many tokens are looked through for the bracket that another closes.
const LONGEST_GROUP: usize = 256;

/// The place of the bracket that the last of these closes; none where that is too far away.
pub(super) fn opener(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().rev().take(LONGEST_GROUP) {
        match token.kind {
            Kind::Mark(")" | "]" | "}") => depth += 1,
            Kind::Mark("(" | "[" | "{") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(place);
        }
    }
    None
}

/// The tokens found so far, in which the next one finds what stands before it.
pub(super) struct Row {
    pub(super) tokens: Vec<Token>,
    pub(super) spaced: bool,
    /// Names before an equals sign.
    assigned: BTreeSet<String>,
    /// Whether the bracket that was closed last began right behind a value.
    pub(super) closed_a_subscript: bool,
    /// The same, of the brackets that are open, innermost last.
    brackets: Vec<bool>,
}

impl Row {
    pub(super) fn new() -> Self {
        Self {
            tokens: Vec::new(),
            spaced: false,
            assigned: BTreeSet::new(),
            closed_a_subscript: false,
            brackets: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, kind: Kind) {
        if let Kind::Mark(mark) = kind {
            match mark {
                "(" | "[" | "{" => self.brackets.push(self.subscript_follows()),
                ")" | "]" | "}" => {
                    self.closed_a_subscript = self.brackets.pop().unwrap_or_default();
                }
                "=" | "," | "|" => {
                    let name = self.last_name().map(str::to_owned);
                    self.assigned.extend(name);
                }
                _ => {}
            }
        }
        self.tokens.push(Token { kind, spaced: std::mem::take(&mut self.spaced) });
    }

    fn subscript_follows(&self) -> bool {
        let is_variable = self.last_name().is_some_and(|name| name.starts_with(['$', '@', '%']));
        let is_subscript = (self.last_is("}") || self.last_is("]")) && self.closed_a_subscript;
        !self.spaced && (is_variable || is_subscript || self.last_is("->"))
    }

    pub(super) fn newline(&mut self) {
        self.spaced = true;
        if !matches!(self.tokens.last(), None | Some(Token { kind: Kind::Newline, .. })) {
            self.push(Kind::Newline);
            self.spaced = true;
        }
    }

    pub(super) fn starts_line(&self) -> bool {
        self.last().is_none_or(|token| token.kind == Kind::Newline)
    }

    pub(super) fn last(&self) -> Option<&Token> {
        self.tokens.last()
    }

    pub(super) fn after_value(&self) -> bool {
        self.last().is_some_and(Token::ends_a_value)
    }

    pub(super) fn last_name(&self) -> Option<&str> {
        self.last().and_then(Token::name)
    }

    pub(super) fn last_is(&self, mark: &str) -> bool {
        self.last().is_some_and(|token| token.is(mark))
    }

    /// Whether the last name stands behind a dot.
    pub(super) fn last_is_member(&self) -> bool {
        let before = self.tokens.len().checked_sub(2).and_then(|place| self.tokens.get(place));
        before.is_some_and(|token| [".", "?.", "&.", "::", "->"].iter().any(|sign| token.is(sign)))
    }

    /// Whether something was assigned to this name.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }

    pub(super) fn in_brackets(&self) -> bool {
        !self.brackets.is_empty()
    }
}
