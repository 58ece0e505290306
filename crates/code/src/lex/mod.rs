//! Splits source code into tokens, with a file for each language. Strings, comments and interpolations are recognised
//! here, so that later stages cannot mistake a string for code.

mod cursor;
mod heredoc;
mod node;
mod perl;
mod python;
mod ruby;
mod token_list;
mod types;

use crate::token::{Kind, LiteralKind, Token};
use crate::{Language, MAX_DEPTH};
use cursor::Cursor;
use heredoc::PendingHeredoc;
use token_list::TokenList;

pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    /// True if every string ends, nothing is nested too deeply, and no token is ambiguous.
    pub(super) is_understood: bool,
}

pub(super) fn lex(language: Language, source: &str) -> Lexed {
    let mut lexer = Lexer { cursor: Cursor::new(source), is_understood: true, depth: 0 };
    let tokens = lexer.tokens(language);
    let tokens = if language == Language::Node { types::without_types(tokens) } else { tokens };
    Lexed { tokens, is_understood: lexer.is_understood }
}

struct Lexer<'t> {
    cursor: Cursor<'t>,
    is_understood: bool,
    depth: usize,
}

/// How the contents of a literal are read.
#[derive(Clone, Copy)]
struct Style {
    /// True if code in it is evaluated and inserted.
    interpolates: bool,
    escapes: Escapes,
    kind: LiteralKind,
}

/// The style of double-quoted strings.
const INTERPOLATED: Style = Style { interpolates: true, escapes: Escapes::All, kind: LiteralKind::String };

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// `\n`, `\x41`, ….
    All,
    /// A backslash is literal, but the delimiter after it does not end the string.
    Raw,
    /// Only the delimiter and the backslash can be escaped.
    Quote,
}

impl Lexer<'_> {
    /// Returns the tokens up to the end, or up to an unmatched closing brace, which is not taken.
    fn tokens(&mut self, language: Language) -> Vec<Token> {
        if self.depth > MAX_DEPTH {
            self.is_understood = false;
            self.cursor.finish();
            return Vec::new();
        }
        self.depth += 1;
        let tokens = match language {
            Language::Python => self.python(),
            Language::Node => self.node(),
            Language::Perl => self.perl(),
            Language::Ruby => self.ruby(),
        };
        self.depth -= 1;
        tokens
    }

    /// Reads a token that has the same form in all languages.
    fn number_or_punct(&mut self, character: char, list: &mut TokenList) {
        if character.is_ascii_digit() {
            let number = self.cursor.number();
            list.push(Kind::Number(number));
        } else if let Some(punct) = self.cursor.punct() {
            list.push(Kind::Punct(punct));
        }
    }

    /// Returns the code of an interpolation, and takes its closing brace.
    fn interpolation(&mut self, language: Language) -> Vec<Token> {
        let tokens = self.tokens(language);
        if !self.cursor.take("}") {
            self.is_understood = false;
        }
        tokens
    }
}

fn closer(open: char) -> char {
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

fn is_name(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}
