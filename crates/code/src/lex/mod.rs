//! Splits source code into tokens, with one file for each language. Strings, comments and interpolations are recognized
//! here, so that later stages cannot mistake a string for code.

mod cursor;
mod heredoc;
mod javascript;
mod perl;
mod python;
mod ruby;
mod token_list;
mod type_annotations;

use crate::token::{LiteralKind, Token, TokenKind};
use crate::{Language, MAX_DEPTH};
use cursor::Cursor;
use heredoc::PendingHeredoc;
use token_list::TokenList;

pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    /// True if every string is closed, nothing is nested too deeply, and no token is ambiguous.
    pub(super) is_understood: bool,
}

pub(super) fn lex(language: Language, source: &str) -> Lexed {
    let mut lexer = Lexer { cursor: Cursor::new(source), is_understood: true, depth: 0 };
    let tokens = lexer.read_tokens(language);
    let tokens =
        if language == Language::JavaScript { type_annotations::remove_type_annotations(tokens) } else { tokens };
    Lexed { tokens, is_understood: lexer.is_understood }
}

struct Lexer<'t> {
    cursor: Cursor<'t>,
    is_understood: bool,
    depth: usize,
}

/// How the source inside of a literal is read.
#[derive(Clone, Copy)]
struct Style {
    /// True if the literal can contain interpolations: code whose value is inserted.
    has_interpolations: bool,
    escapes: Escapes,
    kind: LiteralKind,
}

/// The style of double-quoted strings.
const INTERPOLATED: Style = Style { has_interpolations: true, escapes: Escapes::All, kind: LiteralKind::String };

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// All escape sequences are resolved: `\n`, `\x41`, ….
    All,
    /// A backslash is kept as a character, but a delimiter after it does not end the string.
    Raw,
    /// A backslash escapes only the delimiter and another backslash.
    DelimiterOnly,
}

impl Lexer<'_> {
    /// Reads the tokens up to the end of the source, or up to a closing brace without an opening one. That brace is not
    /// skipped.
    fn read_tokens(&mut self, language: Language) -> Vec<Token> {
        if self.depth > MAX_DEPTH {
            self.is_understood = false;
            self.cursor.skip_to_end();
            return Vec::new();
        }
        self.depth += 1;
        let tokens = match language {
            Language::Python => self.read_python(),
            Language::JavaScript => self.read_javascript(),
            Language::Perl => self.read_perl(),
            Language::Ruby => self.read_ruby(),
        };
        self.depth -= 1;
        tokens
    }

    /// Reads a number or punctuation, whose syntax is the same in all languages.
    fn read_number_or_punct(&mut self, character: char, list: &mut TokenList) {
        if character.is_ascii_digit() {
            let number = self.cursor.take_number();
            list.push(TokenKind::Number(number));
        } else if let Some(punct) = self.cursor.take_punct() {
            list.push(TokenKind::Punct(punct));
        }
    }

    /// Reads the code of an interpolation, and skips its closing brace.
    fn read_interpolation(&mut self, language: Language) -> Vec<Token> {
        let tokens = self.read_tokens(language);
        if !self.cursor.take("}") {
            self.is_understood = false;
        }
        tokens
    }
}

/// Returns the delimiter that closes a literal.
fn closing_delimiter(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

fn starts_name(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

fn is_name_character(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}
