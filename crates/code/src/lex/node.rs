//! The tokens of JavaScript.

use super::token_list::{TokenList, opening_bracket};
use super::{Lexer, is_name, starts_name};
use crate::Language;
use crate::token::{Kind, Literal, LiteralKind, Part, Token};

/// Keywords after which a slash begins a regular expression.
const BEFORE_A_VALUE: &[&str] =
    &["return", "typeof", "case", "in", "delete", "void", "throw", "new", "else", "do", "instanceof"];

/// Contextual keywords: in many programs they are names.
const SOMETIMES_BEFORE_A_VALUE: &[&str] = &["await", "yield", "of"];

/// Keywords whose parentheses are followed by a statement.
const BEFORE_A_CONDITION: &[&str] = &["if", "while", "for", "with"];

/// The meaning of a slash, decided by the tokens before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Division,
    Regex,
    /// Treated as a division, but the tokens do not prove it.
    LikelyDivision,
    LikelyRegex,
}

impl Lexer<'_> {
    pub(super) fn node(&mut self) -> Vec<Token> {
        let mut list = TokenList::new();
        while let Some(character) = self.cursor.peek() {
            match character {
                '\n' => {
                    self.cursor.next();
                    list.newline();
                }
                _ if self.cursor.rest().starts_with("//")
                    || (list.tokens.is_empty() && self.cursor.rest().starts_with("#!")) =>
                {
                    self.cursor.skip_line();
                }
                '/' if self.cursor.take("/*") => {
                    self.is_understood &= self.cursor.skip_past("*/");
                    list.after_space = true;
                }
                '/' => self.node_slash(&mut list),
                // HTML comments, which a module reads as operators.
                '<' if self.cursor.take("<!--") => {
                    let line = self.cursor.rest().lines().next().unwrap_or_default();
                    self.is_understood &= !line.contains(['(', '`']) && !line.contains("/*");
                    self.cursor.skip_line();
                }
                '-' if self.cursor.rest().starts_with("-->") && list.starts_line() => {
                    self.is_understood = false;
                    self.cursor.skip_line();
                }
                _ if character.is_whitespace() => list.after_space |= self.cursor.skip_blanks(),
                '"' | '\'' | '`' => {
                    let literal = self.node_string();
                    list.push(Kind::String(literal));
                }
                _ if starts_name(character) || character == '$' || character == '#' => {
                    self.cursor.next();
                    let name = self.cursor.take_while(|letter| is_name(letter) || letter == '$');
                    list.push(Kind::Name(format!("{character}{name}")));
                }
                // A name may contain Unicode escapes.
                '\\' => {
                    self.is_understood = false;
                    self.cursor.next();
                }
                '}' if !list.in_brackets() && self.depth > 1 => break,
                _ => self.number_or_punct(character, &mut list),
            }
        }
        list.tokens
    }

    /// Reads a division or a regular expression.
    fn node_slash(&mut self, list: &mut TokenList) {
        match slash_kind(&list.tokens) {
            Slash::Division => self.number_or_punct('/', list),
            Slash::LikelyDivision => {
                self.is_understood &= !regex_body(self.cursor.rest()).is_some_and(hides_code);
                self.number_or_punct('/', list);
            }
            is @ (Slash::Regex | Slash::LikelyRegex) => {
                let calls = || regex_body(self.cursor.rest()).is_some_and(|body| body.contains('('));
                self.is_understood &= is == Slash::Regex || !calls();
                self.node_regex();
                list.push(Kind::String(Literal {
                    parts: vec![Part::Interpolation(Vec::new())],
                    kind: LiteralKind::Regex,
                }));
            }
        }
    }

    fn node_string(&mut self) -> Literal {
        let Some(quote) = self.cursor.next() else { return Literal::default() };
        let is_template = quote == '`';
        let mut parts = Vec::new();
        let mut string = String::new();
        loop {
            match self.cursor.next() {
                Some(end) if end == quote => break,
                None => {
                    self.is_understood = false;
                    break;
                }
                Some('\n') if !is_template => {
                    self.is_understood = false;
                    break;
                }
                Some('\\') => {
                    // Half of a surrogate pair, as in `\ud83d`, is not constant, but is understood.
                    let known = match self.cursor.peek() {
                        Some('a' | 'e' | 'U' | 'N' | 'c' | 'C' | 'M') => {
                            string.extend(self.cursor.next());
                            Some(())
                        }
                        _ => self.cursor.escape(&mut string),
                    };
                    if known.is_none() {
                        parts.push(Part::Interpolation(Vec::new()));
                    }
                }
                Some('$') if is_template && self.cursor.take("{") => {
                    parts.push(Part::Constant(std::mem::take(&mut string)));
                    let interpolation = self.interpolation(Language::Node);
                    parts.push(Part::Interpolation(interpolation));
                }
                Some(other) => string.push(other),
            }
        }
        parts.push(Part::Constant(string));
        Literal { parts, kind: LiteralKind::String }
    }

    fn node_regex(&mut self) {
        self.is_understood &= !has_nested_classes(self.cursor.rest());
        self.cursor.next();
        let mut in_class = false;
        loop {
            match self.cursor.next() {
                None | Some('\n') => {
                    self.is_understood = false;
                    return;
                }
                Some('\\') => {
                    self.cursor.next();
                }
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                Some('/') if !in_class => break,
                Some(_) => {}
            }
        }
        self.cursor.take_while(char::is_alphanumeric);
    }
}

/// Returns the meaning of a slash after these tokens.
fn slash_kind(tokens: &[Token]) -> Slash {
    let Some((last, before)) = tokens.split_last() else { return Slash::Regex };
    let is_member = before.last().is_some_and(|token| token.is(".") || token.is("?."));
    match &last.kind {
        // A line that begins with a slash continues the previous one, except after these keywords.
        Kind::Newline => match before.last().and_then(Token::name) {
            Some("return" | "yield" | "break" | "continue" | "debugger") => Slash::Regex,
            _ => slash_kind(before),
        },
        Kind::Name(name) if is_member || !is_word_before_a_value(name) => Slash::Division,
        Kind::Name(name) if BEFORE_A_VALUE.contains(&name.as_str()) => Slash::Regex,
        Kind::Name(_) => Slash::LikelyRegex,
        Kind::String(_) | Kind::Number(_) | Kind::Punct("]") => Slash::Division,
        Kind::Punct(")") => match ends_condition(tokens) {
            Some(true) => Slash::Regex,
            Some(false) => Slash::Division,
            None => Slash::LikelyDivision,
        },
        // The end of a block or of an object.
        Kind::Punct("}") => Slash::LikelyDivision,
        // Postfix operators. The postfix `!` exists only in TypeScript.
        Kind::Punct("++" | "--" | "!") if before.last().is_some_and(Token::ends_a_value) => slash_kind(before),
        Kind::Punct(_) => Slash::Regex,
    }
}

fn is_word_before_a_value(name: &str) -> bool {
    BEFORE_A_VALUE.contains(&name) || SOMETIMES_BEFORE_A_VALUE.contains(&name)
}

/// Returns true if the parenthesis that closes last belongs to a keyword like `if`; `None` if its start is too far
/// away.
fn ends_condition(tokens: &[Token]) -> Option<bool> {
    let mut before = tokens.get(..opening_bracket(tokens)?)?.iter().rev();
    let word = before.next().and_then(Token::name);
    let is_member = |token: &Token| token.is(".") || token.is("?.");
    Some(match (word, before.next()) {
        (Some("await"), Some(token)) => token.name() == Some("for"),
        (Some(word), before) => BEFORE_A_CONDITION.contains(&word) && !before.is_some_and(is_member),
        (None, _) => false,
    })
}

/// Returns the source between this slash and the one on the same line that would end a regular expression.
fn regex_body(source: &str) -> Option<&str> {
    let mut in_class = false;
    let mut letters = source.char_indices().skip(1);
    while let Some((place, letter)) = letters.next() {
        match letter {
            '\n' => return None,
            '\\' => {
                letters.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return source.get(1..place),
            _ => {}
        }
    }
    None
}

/// True if the regular expression has nested character classes, which the `v` flag allows.
fn has_nested_classes(source: &str) -> bool {
    let mut depth = 0_usize;
    let mut are_nested = false;
    let mut letters = source.chars().skip(1);
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => return false,
            '\\' => {
                letters.next();
            }
            '[' => {
                depth += 1;
                are_nested |= depth > 1;
            }
            ']' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => {
                return are_nested && letters.take_while(char::is_ascii_alphabetic).any(|flag| flag == 'v');
            }
            _ => {}
        }
    }
    false
}

/// True if a regular expression that is read as code would begin a string or a comment.
fn hides_code(regex: &str) -> bool {
    regex.contains(['\'', '"', '`']) || regex.contains("//") || regex.contains("/*") || regex.ends_with('\\')
}
