//! State changes of tasks. They are idempotent: setting the state that a task already has is not an error.

use rusqlite::params;

use crate::tasks::read_task;
use crate::{Result, Task, TaskError, TaskId, TaskState, Tasks};

/// The result of a state change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskChange {
    pub task: Task,
    /// True if the task had the wanted state before.
    pub is_unchanged: bool,
}

/// Returns the id that an iteration has as the starter of a task: `RUN/ITERATION`.
pub fn starter_id(run: &str, iteration: u64) -> String {
    format!("{run}/{iteration}")
}

/// Describes a starter id for people: ``in run `r1`, iteration 2``.
pub fn starter_text(starter: &str) -> String {
    match starter.split_once('/') {
        Some((run, iteration)) => format!("in run `{run}`, iteration {iteration}"),
        None => format!("in run `{starter}`"),
    }
}

/// Returns the run in a starter id, which is `RUN/ITERATION` or only `RUN`.
fn run_of_starter(starter: &str) -> &str {
    starter.split_once('/').map_or(starter, |(run, _)| run)
}

impl Tasks<'_> {
    /// Starts an open task that is not blocked. `starter`: a [`starter_id`]; none outside of runs. A task in progress
    /// belongs to the run that started it: only a later iteration of the same run may take it over.
    pub fn start(self, id: TaskId, starter: Option<&str>, now: i64) -> Result<TaskChange, TaskError> {
        self.transition(TaskState::InProgress, id, starter, now)
    }

    pub fn close(self, id: TaskId, now: i64) -> Result<TaskChange, TaskError> {
        self.transition(TaskState::Closed, id, None, now)
    }

    pub fn fail(self, id: TaskId, now: i64) -> Result<TaskChange, TaskError> {
        self.transition(TaskState::Failed, id, None, now)
    }

    pub fn reopen(self, id: TaskId, now: i64) -> Result<TaskChange, TaskError> {
        self.transition(TaskState::Open, id, None, now)
    }

    pub fn set_needs_review(self, id: TaskId, needs_review: bool, now: i64) -> Result<TaskChange, TaskError> {
        let transaction = self.work.write_transaction()?;
        let is_unchanged = read_task(&transaction, id)?.needs_review == needs_review;
        if !is_unchanged {
            let update = "UPDATE tasks SET needs_review = ?2, changed = ?3 WHERE id = ?1";
            transaction.execute(update, params![id, needs_review, now])?;
        }
        let task = read_task(&transaction, id)?;
        transaction.commit()?;
        Ok(TaskChange { task, is_unchanged })
    }

    fn transition(
        self,
        wanted: TaskState,
        id: TaskId,
        starter: Option<&str>,
        now: i64,
    ) -> Result<TaskChange, TaskError> {
        let transaction = self.work.write_transaction()?;
        let before = read_task(&transaction, id)?;
        let is_unchanged = before.state == wanted;
        check_transition(&before, wanted, starter)?;
        let started_by = match wanted {
            TaskState::InProgress => starter,
            TaskState::Open => None,
            TaskState::Closed | TaskState::Failed => before.started_by.as_deref(),
        };
        if !is_unchanged || before.started_by.as_deref() != started_by {
            let update = "UPDATE tasks SET state = ?2, started_by = ?3, changed = ?4 WHERE id = ?1";
            transaction.execute(update, params![id, wanted, started_by, now])?;
        }
        let task = read_task(&transaction, id)?;
        transaction.commit()?;
        Ok(TaskChange { task, is_unchanged })
    }
}

fn check_transition(task: &Task, wanted: TaskState, starter: Option<&str>) -> Result<(), TaskError> {
    let id = task.id;
    match (task.state, wanted) {
        (TaskState::InProgress, TaskState::InProgress) => {
            if task.started_by.as_deref().map(run_of_starter) == starter.map(run_of_starter) {
                Ok(())
            } else {
                Err(TaskError::InProgress { id, by: task.started_by.clone() })
            }
        }
        (TaskState::Open, TaskState::InProgress) => match task.unfinished_blockers() {
            blockers if blockers.is_empty() => Ok(()),
            blockers => Err(TaskError::Blocked { id, blockers }),
        },
        (_, TaskState::Open) | (TaskState::Open | TaskState::InProgress, _) => Ok(()),
        (from, wanted) if from == wanted => Ok(()),
        (from, wanted) => Err(TaskError::InvalidTransition { id, from, to: wanted }),
    }
}
