//! Tokens: what all four languages' texts consist of.

/// One token, and whether white space stands before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) spaced: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// An identifier or keyword, with its sigil where the language has those.
    Name(String),
    Text(Literal),
    /// Its value, where that is a small whole one.
    Number(Option<usize>),
    /// Punctuation: operators, brackets, separators.
    Mark(&'static str),
    /// The end of a line, where it may end a statement.
    Newline,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Literal {
    pub(super) parts: Vec<Part>,
    pub(super) usage: Usage,
}

/// What the language does with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Usage {
    #[default]
    Text,
    /// A list of words: `qw(a b)`, `%w[a b]`.
    Words,
    /// Given to a shell: backticks, `qx{}`, `%x{}`.
    Command,
    /// A regular expression. Only code inside it matters.
    Pattern,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Constant(String),
    /// Code whose value is put in here.
    Hole(Vec<Token>),
}

impl Literal {
    pub(super) fn constant(text: String) -> Self {
        Self { parts: vec![Part::Constant(text)], usage: Usage::Text }
    }
}

impl Token {
    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Mark(found) if found == mark)
    }

    pub(super) fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The text that it is, where that has no holes.
    pub(super) fn constant(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(Literal { parts, .. }) => match parts.as_slice() {
                [Part::Constant(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a value ends here, so that what follows is an operator.
    pub(super) fn ends_a_value(&self) -> bool {
        match &self.kind {
            Kind::Name(_) | Kind::Text(_) | Kind::Number(_) => true,
            Kind::Mark(mark) => matches!(*mark, ")" | "]" | "}"),
            Kind::Newline => false,
        }
    }
}

/// Longest first.
const MARKS: &[&str] = &[
    ">>>=", "===", "!==", "**=", "<=>", "...", "//=", "||=", "&&=", "??=", "<<=", ">>=", ">>>", "=>", "->", "::", "?.",
    "==", "!=", "<=", ">=", "=~", "!~", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=", ":=", "&&", "||", "??",
    "**", "++", "--", "<<", ">>", "..", "//", "&.", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "=", "+", "-",
    "*", "/", "%", "<", ">", "!", "?", "&", "|", "^", "~", "@", "\\", "#", "$", "'", "\"", "`",
];

/// The punctuation that a text begins with.
pub(super) fn mark(text: &str) -> Option<&'static str> {
    MARKS.iter().find(|mark| text.starts_with(**mark)).copied()
}
