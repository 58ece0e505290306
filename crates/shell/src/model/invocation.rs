//! What a command is told: its words, and how its program reads them.

use super::{Assignment, Redirect, Word};
use crate::programs::Arguments;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// The program and its arguments, after quote removal and brace expansion.
    pub words: Vec<Word>,
    /// `NAME=value` before the program.
    pub assignments: Vec<Assignment>,
    pub redirects: Vec<Redirect>,
    /// Its words as its program reads them; none where the program is not known.
    pub arguments: Option<Arguments>,
}
