//! Positional and special parameters of a script or function.

use super::{PositionalParameters, Value};

#[derive(Clone, Default)]
pub(super) struct Parameters {
    /// `$0` of a script that is run by name.
    pub(super) zero: Option<Value>,
    /// `$1`, `$2`, ….
    pub(super) positional: PositionalParameters,
    /// `$_`: the last word of the previous command.
    pub(super) last_word: Option<Value>,
}
