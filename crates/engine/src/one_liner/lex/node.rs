//! JavaScript's tokens.

use super::super::Language;
use super::super::token::{Kind, Literal, Part, Usage};
use super::cursor::Row;
use super::{Lexer, is_name, starts_name};

/// After these a slash begins a regular expression.
const BEFORE_A_VALUE: &[&str] =
    &["return", "typeof", "case", "in", "delete", "void", "throw", "new", "else", "do", "instanceof"];

impl Lexer<'_> {
    pub(super) fn node(&mut self) -> Vec<super::Token> {
        let mut row = Row::new();
        while let Some(character) = self.cursor.peek() {
            let after_value = after_value(&row);
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
                '/' if !after_value => {
                    self.node_pattern();
                    row.push(Kind::Text(Literal { parts: vec![Part::Hole(Vec::new())], usage: Usage::Pattern }));
                }
                // Older ways to begin a comment.
                '<' if self.cursor.take("<!--") => self.cursor.skip_line(),
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

/// Whether an operator is to be expected. Where both are possible it is: code is then not taken for a pattern.
fn after_value(row: &Row) -> bool {
    if row.last_is("++") || row.last_is("--") {
        return true;
    }
    let is_keyword = row.last_name().is_some_and(|name| BEFORE_A_VALUE.contains(&name)) && !row.last_is_member();
    row.after_value() && !is_keyword
}
