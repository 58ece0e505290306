//! The tokens of all four languages.

/// One token, and whether whitespace precedes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) after_space: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// An identifier or keyword, including its sigil in Perl and Ruby.
    Name(String),
    String(Literal),
    /// A number, with its value if that is a decimal integer.
    Number(Option<usize>),
    /// An operator, bracket or separator.
    Punct(&'static str),
    /// The end of a line, where it can end a statement.
    Newline,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Literal {
    pub(super) parts: Vec<LiteralPart>,
    pub(super) kind: LiteralKind,
}

/// The meaning of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LiteralKind {
    #[default]
    String,
    /// A list of words: `qw(a b)`, `%w[a b]`.
    Words,
    /// A string that is passed to a shell: backticks, `qx{}`, `%x{}`.
    ShellCommand,
    /// A regular expression. The analysis evaluates only the interpolations in it.
    Regex,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum LiteralPart {
    Constant(String),
    /// Code whose value is inserted into the literal.
    Interpolation(Vec<Token>),
}

impl Literal {
    pub(super) fn constant(text: String) -> Self {
        Self { parts: vec![LiteralPart::Constant(text)], kind: LiteralKind::String }
    }
}

impl Token {
    /// True if the token is this punctuation.
    pub(super) fn is(&self, punct: &str) -> bool {
        matches!(self.kind, TokenKind::Punct(found) if found == punct)
    }

    pub(super) fn name(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the value of a string without interpolations.
    pub(super) fn constant(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::String(Literal { parts, .. }) => match parts.as_slice() {
                [LiteralPart::Constant(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// True if the token can be the end of a value. After a value, an operator follows.
    pub(super) fn ends_a_value(&self) -> bool {
        match &self.kind {
            TokenKind::Name(_) | TokenKind::String(_) | TokenKind::Number(_) => true,
            TokenKind::Punct(punct) => matches!(*punct, ")" | "]" | "}"),
            TokenKind::Newline => false,
        }
    }
}

/// All operators, brackets and separators. A longer one is listed before those with which it begins.
const PUNCTUATION: &[&str] = &[
    ">>>=", "===", "!==", "**=", "<=>", "...", "//=", "||=", "&&=", "??=", "<<=", ">>=", ">>>", "=>", "->", "::", "?.",
    "==", "!=", "<=", ">=", "=~", "!~", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=", ":=", "&&", "||", "??",
    "**", "++", "--", "<<", ">>", "..", "//", "&.", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "=", "+", "-",
    "*", "/", "%", "<", ">", "!", "?", "&", "|", "^", "~", "@", "\\", "#", "$", "'", "\"", "`",
];

/// Returns the punctuation at the start of the source.
pub(super) fn punctuation(text: &str) -> Option<&'static str> {
    PUNCTUATION.iter().find(|punct| text.starts_with(**punct)).copied()
}
