//! Errors when tasks are added, changed or looked up.

use crate::{TaskId, TaskState, TextError, WorkError};

#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("there is no task `{0}`")]
    NotFound(String),
    #[error("the key `{key}` belongs to {id} already")]
    DuplicateKey { key: String, id: TaskId },
    #[error("the priority must be a number from 1 to 5, not {0}")]
    InvalidPriority(u8),
    #[error("a task cannot be its own ancestor: {}", cycle_text(.0))]
    ParentCycle(Vec<TaskId>),
    #[error("a task cannot wait for itself: {}", cycle_text(.0))]
    BlockerCycle(Vec<TaskId>),
    #[error("{id} waits for {}", comma_separated(.blockers))]
    Blocked { id: TaskId, blockers: Vec<TaskId> },
    #[error("{id} is already in progress, started {}", .by.as_deref().map_or_else(|| "outside of a run".to_owned(), crate::starter_text))]
    InProgress { id: TaskId, by: Option<String> },
    #[error("{id} {}: it cannot be {} before it is reopened", state_phrase(*.from), transition_name(*.to))]
    InvalidTransition { id: TaskId, from: TaskState, to: TaskState },
}

impl From<rusqlite::Error> for TaskError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Work(error.into())
    }
}

fn state_phrase(state: TaskState) -> &'static str {
    match state {
        TaskState::Open => "is open",
        TaskState::InProgress => "is in progress",
        TaskState::Closed => "is closed",
        TaskState::Failed => "has failed",
    }
}

fn transition_name(state: TaskState) -> &'static str {
    match state {
        TaskState::Open => "reopened",
        TaskState::InProgress => "started",
        TaskState::Closed => "closed",
        TaskState::Failed => "marked as failed",
    }
}

fn cycle_text(cycle: &[TaskId]) -> String {
    cycle.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ")
}

fn comma_separated(ids: &[TaskId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
