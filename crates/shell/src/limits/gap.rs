//! Reasons why a script is not fully known.

use thiserror::Error;

use super::{MAX_BYTES, MAX_COMMANDS, MAX_NESTING};

/// A reason why the list of a script's commands is incomplete.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Gap {
    #[error("the command is longer than {} bytes", MAX_BYTES)]
    TooLong,
    #[error("the command is nested more than {MAX_NESTING} levels deep (fewer for `case` and `[[ … ]]`)")]
    TooDeep,
    #[error("the command contains a NUL character")]
    Nul,
    #[error("the command's braces expand to too many words")]
    TooManyWords,
    #[error("the command cannot be parsed: {0}")]
    Rejected(String),
    #[error("shells might read the command differently: it has {0}")]
    Doubtful(&'static str),
    #[error("the command has more than {} parts", MAX_COMMANDS)]
    TooManyCommands,
    #[error("the command expands to too many commands or words")]
    TooMuchWork,
    #[error("part of the command is known only at run time: `{0}`")]
    Unknown(String),
}
