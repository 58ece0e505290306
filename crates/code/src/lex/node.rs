//! JavaScript's tokens.

use super::cursor::{Row, opener};
use super::{Lexer, is_name, starts_name};
use crate::Language;
use crate::token::{Kind, Literal, Part, Token, Usage};

/// After these a slash begins a regular expression.
const BEFORE_A_VALUE: &[&str] =
    &["return", "typeof", "case", "in", "delete", "void", "throw", "new", "else", "do", "instanceof"];

/// The same, where they are no names: in many a text they may be.
const BEFORE_A_VALUE_AT_TIMES: &[&str] = &["await", "yield", "of"];

/// Behind the parentheses of these a statement begins.
const BEFORE_A_CONDITION: &[&str] = &["if", "while", "for", "with"];

/// What stands before a slash says what it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Division,
    Pattern,
    /// A division for all that is read here, and who knows.
    DivisionPerhaps,
    PatternPerhaps,
}

impl Lexer<'_> {
    pub(super) fn node(&mut self) -> Vec<Token> {
        let mut row = Row::new();
        while let Some(character) = self.cursor.peek() {
            match character {
                '\n' => {
                    self.cursor.next();
                    row.newline();
                }
                _ if self.cursor.rest().starts_with("//")
                    || (row.tokens.is_empty() && self.cursor.rest().starts_with("#!")) =>
                {
                    self.cursor.skip_line();
                }
                '/' if self.cursor.take("/*") => {
                    self.sound &= self.cursor.skip_past("*/");
                    row.spaced = true;
                }
                '/' => self.node_slash(&mut row),
                // Older ways to begin a comment. In a module they are operators.
                '<' if self.cursor.take("<!--") => {
                    let line = self.cursor.rest().lines().next().unwrap_or_default();
                    self.sound &= !line.contains(['(', '`']) && !line.contains("/*");
                    self.cursor.skip_line();
                }
                '-' if self.cursor.rest().starts_with("-->") && row.starts_line() => {
                    self.sound = false;
                    self.cursor.skip_line();
                }
                _ if character.is_whitespace() => row.spaced |= self.cursor.skip_blanks(),
                '"' | '\'' | '`' => {
                    let literal = self.node_string();
                    row.push(Kind::Text(literal));
                }
                _ if starts_name(character) || character == '$' || character == '#' => {
                    self.cursor.next();
                    let name = self.cursor.take_while(|letter| is_name(letter) || letter == '$');
                    row.push(Kind::Name(format!("{character}{name}")));
                }
                // A name may be written with escapes.
                '\\' => {
                    self.sound = false;
                    self.cursor.next();
                }
                '}' if !row.in_brackets() && self.depth > 1 => break,
                _ => self.number_or_mark(character, &mut row),
            }
        }
        row.tokens
    }

    /// A division, or a regular expression.
    fn node_slash(&mut self, row: &mut Row) {
        match slash(&row.tokens) {
            Slash::Division => self.number_or_mark('/', row),
            Slash::DivisionPerhaps => {
                self.sound &= !pattern(self.cursor.rest()).is_some_and(hides_code);
                self.number_or_mark('/', row);
            }
            is @ (Slash::Pattern | Slash::PatternPerhaps) => {
                let calls = || pattern(self.cursor.rest()).is_some_and(|text| text.contains('('));
                self.sound &= is == Slash::Pattern || !calls();
                self.node_pattern();
                row.push(Kind::Text(Literal { parts: vec![Part::Hole(Vec::new())], usage: Usage::Pattern }));
            }
        }
    }

    fn node_string(&mut self) -> Literal {
        let Some(quote) = self.cursor.next() else { return Literal::default() };
        let is_template = quote == '`';
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            match self.cursor.next() {
                Some(end) if end == quote => break,
                None => {
                    self.sound = false;
                    break;
                }
                Some('\n') if !is_template => {
                    self.sound = false;
                    break;
                }
                Some('\\') => {
                    // Half a character, as in `\ud83d`, is no constant but no reason for doubt either.
                    let known = match self.cursor.peek() {
                        Some('a' | 'e' | 'U' | 'N' | 'c' | 'C' | 'M') => {
                            text.extend(self.cursor.next());
                            Some(())
                        }
                        _ => self.cursor.escape(&mut text),
                    };
                    if known.is_none() {
                        parts.push(Part::Hole(Vec::new()));
                    }
                }
                Some('$') if is_template && self.cursor.take("{") => {
                    parts.push(Part::Constant(std::mem::take(&mut text)));
                    let hole = self.hole(Language::Node);
                    parts.push(Part::Hole(hole));
                }
                Some(other) => text.push(other),
            }
        }
        parts.push(Part::Constant(text));
        Literal { parts, usage: Usage::Text }
    }

    fn node_pattern(&mut self) {
        self.sound &= !has_nested_classes(self.cursor.rest());
        self.cursor.next();
        let mut in_class = false;
        loop {
            match self.cursor.next() {
                None | Some('\n') => {
                    self.sound = false;
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

/// What a slash behind these is.
fn slash(tokens: &[Token]) -> Slash {
    let Some((last, before)) = tokens.split_last() else { return Slash::Pattern };
    let is_member = before.last().is_some_and(|token| token.is(".") || token.is("?."));
    match &last.kind {
        // A line that begins with a slash goes on with the one before, but not behind these words.
        Kind::Newline => match before.last().and_then(Token::name) {
            Some("return" | "yield" | "break" | "continue" | "debugger") => Slash::Pattern,
            _ => slash(before),
        },
        Kind::Name(name) if is_member || !is_word_before_a_value(name) => Slash::Division,
        Kind::Name(name) if BEFORE_A_VALUE.contains(&name.as_str()) => Slash::Pattern,
        Kind::Name(_) => Slash::PatternPerhaps,
        Kind::Text(_) | Kind::Number(_) | Kind::Mark("]") => Slash::Division,
        Kind::Mark(")") => match ends_condition(tokens) {
            Some(true) => Slash::Pattern,
            Some(false) => Slash::Division,
            None => Slash::DivisionPerhaps,
        },
        // A block, or an object.
        Kind::Mark("}") => Slash::DivisionPerhaps,
        // Behind a value they belong to it, the last one in TypeScript.
        Kind::Mark("++" | "--" | "!") if before.last().is_some_and(Token::ends_a_value) => slash(before),
        Kind::Mark(_) => Slash::Pattern,
    }
}

fn is_word_before_a_value(name: &str) -> bool {
    BEFORE_A_VALUE.contains(&name) || BEFORE_A_VALUE_AT_TIMES.contains(&name)
}

/// Whether the parenthesis that closes last belongs to a word like `if`; none where that is too far away.
fn ends_condition(tokens: &[Token]) -> Option<bool> {
    let mut before = tokens.get(..opener(tokens)?)?.iter().rev();
    let word = before.next().and_then(Token::name);
    let is_member = |token: &Token| token.is(".") || token.is("?.");
    Some(match (word, before.next()) {
        (Some("await"), Some(token)) => token.name() == Some("for"),
        (Some(word), before) => BEFORE_A_CONDITION.contains(&word) && !before.is_some_and(is_member),
        (None, _) => false,
    })
}

/// What stands between this slash and the one that would end a pattern, if one does in this line.
fn pattern(text: &str) -> Option<&str> {
    let mut in_class = false;
    let mut letters = text.char_indices().skip(1);
    while let Some((place, letter)) = letters.next() {
        match letter {
            '\n' => return None,
            '\\' => {
                letters.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return text.get(1..place),
            _ => {}
        }
    }
    None
}

/// Whether the pattern here has classes in classes, as those have that are marked with a `v`.
fn has_nested_classes(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut are_nested = false;
    let mut letters = text.chars().skip(1);
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

/// Whether a pattern that is read as code would begin a string or a comment.
fn hides_code(pattern: &str) -> bool {
    pattern.contains(['\'', '"', '`']) || pattern.contains("//") || pattern.contains("/*") || pattern.ends_with('\\')
}
