//! The tokens of all four languages.

/// One token, and whether whitespace precedes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) after_space: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// An identifier or keyword, including its sigil in Perl and Ruby.
    Name(String),
    String(Literal),
    /// A number, with its value if that is a decimal integer.
    Number(Option<usize>),
    /// An operator, bracket or separator.
    Punct(&'static str),
    /// The end of a line, if it may end a statement.
    Newline,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Literal {
    pub(super) parts: Vec<Part>,
    pub(super) kind: LiteralKind,
}

/// The meaning of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LiteralKind {
    #[default]
    String,
    /// A list of words: `qw(a b)`, `%w[a b]`.
    Words,
    /// Passed to a shell: backticks, `qx{}`, `%x{}`.
    ShellCommand,
    /// A regular expression. Only interpolated code in it is evaluated.
    Regex,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Constant(String),
    /// Code whose value is inserted into the literal.
    Interpolation(Vec<Token>),
}

impl Literal {
    pub(super) fn constant(text: String) -> Self {
        Self { parts: vec![Part::Constant(text)], kind: LiteralKind::String }
    }
}

impl Token {
    /// True if the token is this punctuation.
    pub(super) fn is(&self, punct: &str) -> bool {
        matches!(self.kind, Kind::Punct(found) if found == punct)
    }

    pub(super) fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the value of a string without interpolations.
    pub(super) fn constant(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(Literal { parts, .. }) => match parts.as_slice() {
                [Part::Constant(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// True if the token may end a value, so that an operator would follow.
    pub(super) fn ends_a_value(&self) -> bool {
        match &self.kind {
            Kind::Name(_) | Kind::String(_) | Kind::Number(_) => true,
            Kind::Punct(punct) => matches!(*punct, ")" | "]" | "}"),
            Kind::Newline => false,
        }
    }
}

/// All operators, brackets and separators. A longer one precedes those that it begins with.
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
