//! The words of a command, and their roles for its program.

use super::{Assignment, Redirect, Word};
use crate::programs::Arguments;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// The program and its arguments, after quote removal and brace expansion.
    pub words: Vec<Word>,
    /// `NAME=value` before the program.
    pub assignments: Vec<Assignment>,
    pub redirects: Vec<Redirect>,
    /// The roles of the words for the program; `None` if the program is not known.
    pub arguments: Option<Arguments>,
}
