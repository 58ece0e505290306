//! Python's tokens.

use super::cursor::Row;
use super::{Escapes, Lexer, Style, is_name, starts_name};
use crate::Language;
use crate::token::{Kind, Literal, Part, Token, Usage};

impl Lexer<'_> {
    pub(super) fn python(&mut self) -> Vec<Token> {
        let mut row = Row::new();
        while let Some(character) = self.cursor.peek() {
            match character {
                '\n' => {
                    self.cursor.next();
                    // Inside brackets a line end means nothing.
                    if row.in_brackets() { row.spaced = true } else { row.newline() }
                }
                '#' => self.cursor.skip_line(),
                '\\' if self.cursor.peek_at(1) == Some('\n') => {
                    self.cursor.take("\\\n");
                    row.spaced = true;
                }
                _ if character.is_whitespace() => row.spaced |= self.cursor.skip_blanks(),
                '"' | '\'' => {
                    let literal = self.python_string("");
                    row.push(Kind::Text(literal));
                }
                _ if starts_name(character) => {
                    let name = self.cursor.take_while(is_name);
                    let is_prefix = name.len() <= 2 && name.chars().all(|letter| "rRbBuUfFtT".contains(letter));
                    if is_prefix && matches!(self.cursor.peek(), Some('"' | '\'')) {
                        let literal = self.python_string(name);
                        row.push(Kind::Text(literal));
                    } else {
                        // Python takes such letters for the plain ones that they look like.
                        self.sound &= !name.chars().any(looks_like_another);
                        row.push(Kind::Name(name.to_owned()));
                    }
                }
                // Behind this a hole says how its value is written.
                '}' | ':' if !row.in_brackets() && self.depth > 1 => break,
                _ => self.number_or_mark(character, &mut row),
            }
        }
        row.tokens
    }

    /// At the opening quote.
    fn python_string(&mut self, prefix: &str) -> Literal {
        let Some(quote) = self.cursor.next() else { return Literal::default() };
        let double: String = [quote, quote].iter().collect();
        let is_long = self.cursor.take(&double);
        let end = if is_long { format!("{quote}{double}") } else { quote.to_string() };
        let has = |letter: char| prefix.to_ascii_lowercase().contains(letter);
        let style = Style {
            holes: has('f') || has('t'),
            escapes: if has('r') { Escapes::Raw } else { Escapes::All },
            usage: Usage::Text,
        };
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            if self.cursor.take(&end) {
                break;
            }
            match self.cursor.next() {
                None => {
                    self.sound = false;
                    break;
                }
                Some('\n') if !is_long => {
                    self.sound = false;
                    break;
                }
                Some('\\') if style.escapes == Escapes::Raw => {
                    text.push('\\');
                    text.extend(self.cursor.next());
                }
                Some('\\') => match self.cursor.peek() {
                    // Python keeps the backslash before what is no escape.
                    Some(letter) if !"\\'\"abfnrtv01234567xuUN\n".contains(letter) => text.push('\\'),
                    _ if self.cursor.escape(&mut text).is_none() => parts.push(Part::Hole(Vec::new())),
                    _ => {}
                },
                Some('{') if style.holes && !self.cursor.take("{") => {
                    parts.push(Part::Constant(std::mem::take(&mut text)));
                    let hole = self.python_hole(&end);
                    parts.push(Part::Hole(hole));
                }
                Some('{') => text.push('{'),
                Some('}') if style.holes => {
                    self.cursor.take("}");
                    text.push('}');
                }
                Some(other) => text.push(other),
            }
        }
        parts.push(Part::Constant(text));
        Literal { parts, usage: style.usage }
    }

    /// The code of a hole, up to behind its closing brace, in a string that ends so. How its value is written is text, with
    /// holes of its own; they stand behind a colon.
    fn python_hole(&mut self, end: &str) -> Vec<Token> {
        let mut tokens = self.tokens(Language::Python);
        if !self.cursor.take(":") {
            self.sound &= self.cursor.take("}");
            return tokens;
        }
        let colon = || Token { kind: Kind::Mark(":"), spaced: false };
        tokens.push(colon());
        loop {
            if self.cursor.rest().starts_with(end) {
                self.sound = false;
                return tokens;
            }
            match self.cursor.next() {
                Some('}') => return tokens,
                Some('{') => {
                    tokens.extend(self.python_hole(end));
                    tokens.push(colon());
                }
                // Who knows what stands for a brace there.
                None | Some('\n' | '\\') => {
                    self.sound = false;
                    return tokens;
                }
                Some(_) => {}
            }
        }
    }
}

/// Letters whose compatibility form is another letter.
fn looks_like_another(letter: char) -> bool {
    matches!(u32::from(letter),
        0xaa | 0xba | 0x1d00..=0x1dbf | 0x2070..=0x218f | 0x2460..=0x24ff | 0xfb00..=0xfb06 | 0xff00..=0xffef
        | 0x1d400..=0x1d7ff | 0x1f100..=0x1f1ff)
}
