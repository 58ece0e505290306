//! What a script or a function is told when it is called, and what the last command was told.

use super::{Arguments, Value};

#[derive(Clone, Default)]
pub(super) struct Parameters {
    /// `$0`, of a script that is run by its name.
    pub(super) zero: Option<Value>,
    /// `$1`, `$2`, ….
    pub(super) positional: Arguments,
    /// `$_`: the last word of the last command.
    pub(super) last_word: Option<Value>,
}
