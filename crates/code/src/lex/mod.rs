//! From text to tokens. Each language has its own file; strings, comments and holes in strings are settled here, so that
//! nothing after it can take a string for code.

mod cursor;
mod heredoc;
mod node;
mod perl;
mod python;
mod ruby;
mod types;

use crate::token::{Kind, Token, Usage};
use crate::{Language, MAX_DEPTH};
use cursor::{Cursor, Row};
use heredoc::Pending;

/// What a text consists of.
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    /// Whether all of it was understood: every string ends, nothing is nested too deeply.
    pub(super) sound: bool,
}

pub(super) fn lex(language: Language, text: &str) -> Lexed {
    let mut lexer = Lexer { cursor: Cursor::new(text), sound: true, depth: 0 };
    let tokens = lexer.tokens(language);
    let tokens = if language == Language::Node { types::without(tokens) } else { tokens };
    Lexed { tokens, sound: lexer.sound }
}

struct Lexer<'t> {
    cursor: Cursor<'t>,
    sound: bool,
    depth: usize,
}

/// How a literal is read.
#[derive(Clone, Copy)]
struct Style {
    /// Whether code in it is run and put in.
    holes: bool,
    escapes: Escapes,
    usage: Usage,
}

/// As between double quotes.
const INTERPOLATED: Style = Style { holes: true, escapes: Escapes::All, usage: Usage::Text };

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// `\n`, `\x41`, ….
    All,
    /// A backslash stands for itself, but the delimiter after it does not end the string.
    Raw,
    /// Only the delimiter and the backslash can be escaped.
    Quote,
}

impl Lexer<'_> {
    /// The tokens up to a closing brace that was not opened here (which is left), or to the end.
    fn tokens(&mut self, language: Language) -> Vec<Token> {
        if self.depth > MAX_DEPTH {
            self.sound = false;
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

    /// What is left where nothing of the language's own begins.
    fn number_or_mark(&mut self, character: char, row: &mut Row) {
        if character.is_ascii_digit() {
            let number = self.cursor.number();
            row.push(Kind::Number(number));
        } else if let Some(mark) = self.cursor.mark() {
            row.push(Kind::Mark(mark));
        }
    }

    /// The code of a hole; its closing brace is taken.
    fn hole(&mut self, language: Language) -> Vec<Token> {
        let tokens = self.tokens(language);
        if !self.cursor.take("}") {
            self.sound = false;
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
