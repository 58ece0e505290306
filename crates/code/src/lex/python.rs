//! The lexer for Python.

use super::token_list::TokenList;
use super::{Escapes, Lexer, Style, is_name_character, starts_name};
use crate::Language;
use crate::token::{Literal, LiteralKind, LiteralPart, Token, TokenKind};

impl Lexer<'_> {
    pub(super) fn read_python(&mut self) -> Vec<Token> {
        let mut list = TokenList::new();
        while let Some(character) = self.cursor.peek() {
            match character {
                '\n' => {
                    self.cursor.next();
                    // A newline inside brackets is whitespace.
                    if list.in_brackets() { list.after_space = true } else { list.push_newline() }
                }
                '#' => self.cursor.skip_line(),
                '\\' if self.cursor.peek_at(1) == Some('\n') => {
                    self.cursor.take("\\\n");
                    list.after_space = true;
                }
                _ if character.is_whitespace() => list.after_space |= self.cursor.skip_blanks(),
                '"' | '\'' => {
                    let literal = self.read_python_string("");
                    list.push(TokenKind::String(literal));
                }
                _ if starts_name(character) => {
                    let name = self.cursor.take_while(is_name_character);
                    let is_prefix = name.len() <= 2 && name.chars().all(|character| "rRbBuUfFtT".contains(character));
                    if is_prefix && matches!(self.cursor.peek(), Some('"' | '\'')) {
                        let literal = self.read_python_string(name);
                        list.push(TokenKind::String(literal));
                    } else {
                        // Python replaces such letters by others (NFKC), so the name can stand for another one, such as
                        // that of a function.
                        self.is_understood &= !name.chars().any(normalizes_to_other_letter);
                        list.push(TokenKind::Name(name.to_owned()));
                    }
                }
                // In an interpolation, a format specification follows the colon.
                '}' | ':' if !list.in_brackets() && self.depth > 1 => break,
                _ => self.read_number_or_punct(character, &mut list),
            }
        }
        list.tokens
    }

    /// Reads a string. The cursor is at its opening quote.
    fn read_python_string(&mut self, prefix: &str) -> Literal {
        let Some(quote) = self.cursor.next() else { return Literal::default() };
        let two_quotes: String = [quote, quote].iter().collect();
        let is_triple_quoted = self.cursor.take(&two_quotes);
        let end = if is_triple_quoted { format!("{quote}{two_quotes}") } else { quote.to_string() };
        let has_prefix = |character: char| prefix.to_ascii_lowercase().contains(character);
        let style = Style {
            has_interpolations: has_prefix('f') || has_prefix('t'),
            escapes: if has_prefix('r') { Escapes::Raw } else { Escapes::All },
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
                Some('\n') if !is_triple_quoted => {
                    self.is_understood = false;
                    break;
                }
                Some('\\') if style.escapes == Escapes::Raw => {
                    string.push('\\');
                    string.extend(self.cursor.next());
                }
                Some('\\') => match self.cursor.peek() {
                    // Python keeps the backslash of an unknown escape sequence.
                    Some(character) if !"\\'\"abfnrtv01234567xuUN\n".contains(character) => string.push('\\'),
                    _ if self.cursor.read_escape_sequence(&mut string).is_none() => {
                        parts.push(LiteralPart::Interpolation(Vec::new()));
                    }
                    _ => {}
                },
                Some('{') if style.has_interpolations && !self.cursor.take("{") => {
                    parts.push(LiteralPart::Constant(std::mem::take(&mut string)));
                    let interpolation = self.read_python_interpolation(&end);
                    parts.push(LiteralPart::Interpolation(interpolation));
                }
                Some('{') => string.push('{'),
                Some('}') if style.has_interpolations => {
                    self.cursor.take("}");
                    string.push('}');
                }
                Some(other) => string.push(other),
            }
        }
        parts.push(LiteralPart::Constant(string));
        Literal { parts, kind: style.kind }
    }

    /// Reads the code of an interpolation, and skips its closing brace. `end` is the quote that ends the string.
    /// Interpolations in the format specification are appended, each after a colon.
    fn read_python_interpolation(&mut self, end: &str) -> Vec<Token> {
        let mut tokens = self.read_tokens(Language::Python);
        if !self.cursor.take(":") {
            self.is_understood &= self.cursor.take("}");
            return tokens;
        }
        let colon = || Token { kind: TokenKind::Punct(":"), after_space: false };
        tokens.push(colon());
        loop {
            if self.cursor.rest().starts_with(end) {
                self.is_understood = false;
                return tokens;
            }
            match self.cursor.next() {
                Some('}') => return tokens,
                Some('{') => {
                    tokens.extend(self.read_python_interpolation(end));
                    tokens.push(colon());
                }
                // An escape sequence in a format specification could produce a brace.
                None | Some('\n' | '\\') => {
                    self.is_understood = false;
                    return tokens;
                }
                Some(_) => {}
            }
        }
    }
}

/// True for letters that compatibility normalization (NFKC) replaces by other letters.
fn normalizes_to_other_letter(character: char) -> bool {
    matches!(u32::from(character),
        0xaa | 0xba | 0x1d00..=0x1dbf | 0x2070..=0x218f | 0x2460..=0x24ff | 0xfb00..=0xfb06 | 0xff00..=0xffef
        | 0x1d400..=0x1d7ff | 0x1f100..=0x1f1ff)
}
