//! One argument and one flag of a command line.

use super::Role;

/// One argument, or the part of one: `--file=x` has `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    pub role: Role,
    /// Its place among the words; the program has place 0.
    pub word: usize,
    /// Where in the word it begins, in bytes.
    pub from: usize,
}

/// One flag: `-f` of `-fu`, `--file` of `--file=x`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The whole name, where only its beginning was written.
    pub name: String,
    /// Its place among the words.
    pub word: usize,
    pub value: Option<Argument>,
    /// All spellings of it that are known, `-f|--force`; empty where none are.
    pub(super) spellings: &'static str,
}

impl Flag {
    /// Whether this is one of its names.
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.spellings.split('|').any(|spelling| spelling == name)
    }

    /// Whether the program is known to have it.
    pub fn is_known(&self) -> bool {
        !self.spellings.is_empty()
    }
}
