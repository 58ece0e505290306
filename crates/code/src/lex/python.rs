//! The tokens of Python.

use super::token_list::TokenList;
use super::{Escapes, Lexer, Style, is_name, starts_name};
use crate::Language;
use crate::token::{Kind, Literal, LiteralKind, Part, Token};

impl Lexer<'_> {
    pub(super) fn python(&mut self) -> Vec<Token> {
        let mut list = TokenList::new();
        while let Some(character) = self.cursor.peek() {
            match character {
                '\n' => {
                    self.cursor.next();
                    // A newline inside brackets is whitespace.
                    if list.in_brackets() { list.after_space = true } else { list.newline() }
                }
                '#' => self.cursor.skip_line(),
                '\\' if self.cursor.peek_at(1) == Some('\n') => {
                    self.cursor.take("\\\n");
                    list.after_space = true;
                }
                _ if character.is_whitespace() => list.after_space |= self.cursor.skip_blanks(),
                '"' | '\'' => {
                    let literal = self.python_string("");
                    list.push(Kind::String(literal));
                }
                _ if starts_name(character) => {
                    let name = self.cursor.take_while(is_name);
                    let is_prefix = name.len() <= 2 && name.chars().all(|letter| "rRbBuUfFtT".contains(letter));
                    if is_prefix && matches!(self.cursor.peek(), Some('"' | '\'')) {
                        let literal = self.python_string(name);
                        list.push(Kind::String(literal));
                    } else {
                        // Python normalizes such letters to ASCII letters (NFKC).
                        self.is_understood &= !name.chars().any(normalizes_to_other_letter);
                        list.push(Kind::Name(name.to_owned()));
                    }
                }
                // A colon begins the format specification of an interpolation.
                '}' | ':' if !list.in_brackets() && self.depth > 1 => break,
                _ => self.number_or_punct(character, &mut list),
            }
        }
        list.tokens
    }

    /// Reads a string. The cursor is at its opening quote.
    fn python_string(&mut self, prefix: &str) -> Literal {
        let Some(quote) = self.cursor.next() else { return Literal::default() };
        let double: String = [quote, quote].iter().collect();
        let is_long = self.cursor.take(&double);
        let end = if is_long { format!("{quote}{double}") } else { quote.to_string() };
        let has = |letter: char| prefix.to_ascii_lowercase().contains(letter);
        let style = Style {
            interpolates: has('f') || has('t'),
            escapes: if has('r') { Escapes::Raw } else { Escapes::All },
            kind: LiteralKind::String,
        };
        let mut parts = Vec::new();
        let mut string = String::new();
        loop {
            if self.cursor.take(&end) {
                break;
            }
            match self.cursor.next() {
                None => {
                    self.is_understood = false;
                    break;
                }
                Some('\n') if !is_long => {
                    self.is_understood = false;
                    break;
                }
                Some('\\') if style.escapes == Escapes::Raw => {
                    string.push('\\');
                    string.extend(self.cursor.next());
                }
                Some('\\') => match self.cursor.peek() {
                    // Python keeps the backslash of an unknown escape sequence.
                    Some(letter) if !"\\'\"abfnrtv01234567xuUN\n".contains(letter) => string.push('\\'),
                    _ if self.cursor.escape(&mut string).is_none() => parts.push(Part::Interpolation(Vec::new())),
                    _ => {}
                },
                Some('{') if style.interpolates && !self.cursor.take("{") => {
                    parts.push(Part::Constant(std::mem::take(&mut string)));
                    let interpolation = self.python_interpolation(&end);
                    parts.push(Part::Interpolation(interpolation));
                }
                Some('{') => string.push('{'),
                Some('}') if style.interpolates => {
                    self.cursor.take("}");
                    string.push('}');
                }
                Some(other) => string.push(other),
            }
        }
        parts.push(Part::Constant(string));
        Literal { parts, kind: style.kind }
    }

    /// Returns the code of an interpolation, and takes its closing brace. `end` is the quote that ends the string. The
    /// format specification may contain interpolations, which follow after a colon.
    fn python_interpolation(&mut self, end: &str) -> Vec<Token> {
        let mut tokens = self.tokens(Language::Python);
        if !self.cursor.take(":") {
            self.is_understood &= self.cursor.take("}");
            return tokens;
        }
        let colon = || Token { kind: Kind::Punct(":"), after_space: false };
        tokens.push(colon());
        loop {
            if self.cursor.rest().starts_with(end) {
                self.is_understood = false;
                return tokens;
            }
            match self.cursor.next() {
                Some('}') => return tokens,
                Some('{') => {
                    tokens.extend(self.python_interpolation(end));
                    tokens.push(colon());
                }
                // An escape sequence could produce a brace.
                None | Some('\n' | '\\') => {
                    self.is_understood = false;
                    return tokens;
                }
                Some(_) => {}
            }
        }
    }
}

/// True for letters whose compatibility form is another letter.
fn normalizes_to_other_letter(letter: char) -> bool {
    matches!(u32::from(letter),
        0xaa | 0xba | 0x1d00..=0x1dbf | 0x2070..=0x218f | 0x2460..=0x24ff | 0xfb00..=0xfb06 | 0xff00..=0xffef
        | 0x1d400..=0x1d7ff | 0x1f100..=0x1f1ff)
}
