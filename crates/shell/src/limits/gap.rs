//! Reasons for which a script is not fully known.

use thiserror::Error;

use super::{MAX_BYTES, MAX_COMMANDS, MAX_NESTING};

/// Why a picture is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Gap {
    #[error("the command is longer than {} bytes", MAX_BYTES)]
    TooLong,
    #[error("the command is nested too deeply; the limit is {MAX_NESTING} levels, and fewer of `case` and of tests")]
    TooDeep,
    #[error("the command has a NUL character")]
    Nul,
    #[error("the command's braces expand to too many words")]
    TooManyWords,
    #[error("the command is not understood: {0}")]
    Rejected(String),
    #[error("the command is not surely understood: it has {0}")]
    Doubtful(&'static str),
    #[error("the command has more than {} parts", MAX_COMMANDS)]
    TooManyCommands,
    #[error("the command is too much to follow: it multiplies what it runs, or what that is made of")]
    TooMuch,
    #[error("what `{0}` runs is not known before it runs")]
    Unknown(String),
}
