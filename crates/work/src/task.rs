//! A task, its state, and the tasks that block it.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Serialize, Serializer};

/// Displayed as `t1`, `t2`, … Ids are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(i64);

impl TaskId {
    /// Parses an id as people type it: `t7`, `T7` or `7`.
    pub fn parse(word: &str) -> Option<Self> {
        let digits = word.strip_prefix(['t', 'T']).unwrap_or(word);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok().map(Self)).flatten()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromSql for TaskId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

impl ToSql for TaskId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Open,
    InProgress,
    Closed,
    Failed,
}

impl TaskState {
    pub const ALL: [Self; 4] = [Self::Open, Self::InProgress, Self::Closed, Self::Failed];

    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Closed => "closed",
            Self::Failed => "failed",
        }
    }

    /// True if the task may still be worked on.
    pub fn is_unfinished(self) -> bool {
        matches!(self, Self::Open | Self::InProgress)
    }
}

impl FromSql for TaskState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|state| state.name() == name).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for TaskState {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.name().to_sql()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Task {
    pub id: TaskId,
    /// A unique name chosen by the caller, for [`Tasks::ensure`](crate::Tasks::ensure).
    pub key: Option<String>,
    pub title: String,
    pub description: String,
    pub state: TaskState,
    /// From 1, the most urgent, to 5.
    pub priority: u8,
    pub parent: Option<TaskId>,
    pub blockers: Vec<Blocker>,
    /// A person has to review the task.
    pub needs_review: bool,
    /// The [`starter_id`](crate::starter_id) of the iteration that started the task last; none if the task was started
    /// outside of runs.
    pub started_by: Option<String>,
    /// Milliseconds since 1970.
    pub created: i64,
    pub changed: i64,
}

/// A task that has to be finished before another one can start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocker {
    pub id: TaskId,
    /// None if the task does not exist.
    pub state: Option<TaskState>,
}

impl Task {
    /// Returns the blockers that are not finished yet.
    pub fn unfinished_blockers(&self) -> Vec<TaskId> {
        let is_unfinished = |blocker: &&Blocker| blocker.state.is_some_and(TaskState::is_unfinished);
        self.blockers.iter().filter(is_unfinished).map(|blocker| blocker.id).collect()
    }

    /// Returns the blockers that failed or do not exist. They do not block the task, but callers have to report them.
    pub fn failed_or_missing_blockers(&self) -> impl Iterator<Item = &Blocker> {
        self.blockers.iter().filter(|blocker| matches!(blocker.state, None | Some(TaskState::Failed)))
    }

    /// True if the task is open and not blocked.
    pub fn is_ready(&self) -> bool {
        self.state == TaskState::Open && self.unfinished_blockers().is_empty()
    }
}

/// The properties of a task to add or change.
#[derive(Debug, Clone, Default)]
pub struct TaskDraft<'a> {
    pub title: &'a str,
    pub description: Option<&'a str>,
    pub parent: Option<TaskId>,
    pub blockers: &'a [TaskId],
    /// None means [`DEFAULT_PRIORITY`] for a new task, and no change for an existing one.
    pub priority: Option<u8>,
}

pub const DEFAULT_PRIORITY: u8 = 3;
pub const PRIORITIES: std::ops::RangeInclusive<u8> = 1..=5;
