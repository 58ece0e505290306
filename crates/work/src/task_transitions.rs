//! State changes of tasks. They are idempotent: setting the state that a task already has is not an error.

use rusqlite::params;

use crate::tasks::read;
use crate::{Result, Task, TaskError, TaskId, TaskState, Tasks};

/// The result of a state change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskChange {
    pub task: Task,
    /// True if the task had the wanted state before.
    pub is_unchanged: bool,
}

/// The id of an iteration as the starter of tasks: `RUN/ITERATION`.
pub fn starter_id(run: &str, iteration: u64) -> String {
    format!("{run}/{iteration}")
}

/// Returns the run of a starter id. A bare run is a valid starter id too.
fn run_of(starter: &str) -> &str {
    starter.split_once('/').map_or(starter, |(run, _)| run)
}

impl Tasks<'_> {
    /// Starts an open task that is not blocked. A task in progress belongs to the run that started it: a later
    /// iteration of the same run may take it over, others may not.
    pub fn start(self, id: TaskId, by: Option<&str>, now: i64) -> Result<TaskChange, TaskError> {
        self.to(TaskState::InProgress, id, by, now)
    }

    pub fn close(self, id: TaskId, now: i64) -> Result<TaskChange, TaskError> {
        self.to(TaskState::Closed, id, None, now)
    }

    pub fn fail(self, id: TaskId, now: i64) -> Result<TaskChange, TaskError> {
        self.to(TaskState::Failed, id, None, now)
    }

    pub fn reopen(self, id: TaskId, now: i64) -> Result<TaskChange, TaskError> {
        self.to(TaskState::Open, id, None, now)
    }

    pub fn set_needs_review(self, id: TaskId, needs_review: bool, now: i64) -> Result<TaskChange, TaskError> {
        let transaction = self.work.write_transaction()?;
        let is_unchanged = read(&transaction, id)?.needs_review == needs_review;
        if !is_unchanged {
            let update = "UPDATE tasks SET needs_review = ?2, changed = ?3 WHERE id = ?1";
            transaction.execute(update, params![id, needs_review, now])?;
        }
        let task = read(&transaction, id)?;
        transaction.commit()?;
        Ok(TaskChange { task, is_unchanged })
    }

    fn to(self, wanted: TaskState, id: TaskId, by: Option<&str>, now: i64) -> Result<TaskChange, TaskError> {
        let transaction = self.work.write_transaction()?;
        let before = read(&transaction, id)?;
        let is_unchanged = before.state == wanted;
        check(&before, wanted, by)?;
        let started_by = match wanted {
            TaskState::InProgress => by,
            TaskState::Open => None,
            TaskState::Closed | TaskState::Failed => before.started_by.as_deref(),
        };
        if !is_unchanged || before.started_by.as_deref() != started_by {
            let update = "UPDATE tasks SET state = ?2, started_by = ?3, changed = ?4 WHERE id = ?1";
            transaction.execute(update, params![id, wanted, started_by, now])?;
        }
        let task = read(&transaction, id)?;
        transaction.commit()?;
        Ok(TaskChange { task, is_unchanged })
    }
}

fn check(task: &Task, wanted: TaskState, by: Option<&str>) -> Result<(), TaskError> {
    let id = task.id;
    match (task.state, wanted) {
        (TaskState::InProgress, TaskState::InProgress) => {
            if task.started_by.as_deref().map(run_of) == by.map(run_of) {
                Ok(())
            } else {
                Err(TaskError::InProgress { id, by: task.started_by.clone() })
            }
        }
        (TaskState::Open, TaskState::InProgress) => match task.open_blockers() {
            blockers if blockers.is_empty() => Ok(()),
            blockers => Err(TaskError::Blocked { id, blockers }),
        },
        (_, TaskState::Open) | (TaskState::Open | TaskState::InProgress, _) => Ok(()),
        (is, wanted) if is == wanted => Ok(()),
        (is, wanted) => Err(TaskError::State { id, is, wanted }),
    }
}
