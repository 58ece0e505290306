//! One argument and one flag of a command line.

use super::Role;

/// An argument, or part of an argument: `x` of `--file=x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    pub role: Role,
    /// The index of the word that contains the argument; the program has index 0.
    pub word: usize,
    /// The byte offset of the argument in the word.
    pub from: usize,
}

/// A flag: `-f` of `-fu`, `--file` of `--file=x`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The whole name of the flag, even if the command line abbreviates the name.
    pub name: String,
    /// The index of the word that contains the flag.
    pub word: usize,
    pub value: Option<Argument>,
    /// All spellings of the flag in the table, `-f|--force`; empty if the table does not list the flag.
    pub(super) spellings: &'static str,
}

impl Flag {
    /// True if `name` is one of the flag's spellings.
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.spellings.split('|').any(|spelling| spelling == name)
    }

    /// True if the table lists the flag for the program.
    pub fn is_known(&self) -> bool {
        !self.spellings.is_empty()
    }
}
