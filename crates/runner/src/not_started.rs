//! The error for a process that was not started.

use std::ffi::OsStr;
use std::io;

/// The reason why a process was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotStarted {
    pub why: String,
}

pub(crate) fn not_started(why: impl Into<String>) -> NotStarted {
    NotStarted { why: why.into() }
}

/// Says why a program cannot be started.
pub(crate) fn start_error(program: &OsStr, error: &io::Error) -> String {
    let is_path = program.to_string_lossy().contains(['/', '\\']);
    if error.kind() == io::ErrorKind::NotFound && !is_path {
        "it is not on the PATH".to_owned()
    } else {
        error.to_string()
    }
}
