//! The error for a process that was not started.

/// The reason why a process was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotStarted {
    pub why: String,
}

pub(crate) fn not_started(why: impl Into<String>) -> NotStarted {
    NotStarted { why: why.into() }
}
