//! How a task goes from state to state. What is so already is no error: whoever asks twice gets what they want.

use rusqlite::params;

use crate::tasks::read;
use crate::{Result, Task, TaskError, TaskId, TaskState, Tasks};

/// A task as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub task: Task,
    /// It was so before.
    pub was_so: bool,
}

/// Whoever starts a task in a run.
pub fn starter(run: &str, iteration: u64) -> String {
    format!("{run}/{iteration}")
}

/// The run of a starter; a run by itself is one too.
fn run_of(starter: &str) -> &str {
    starter.split_once('/').map_or(starter, |(run, _)| run)
}

impl Tasks<'_> {
    /// An open task that waits for nothing. One that is in progress belongs to whoever started it: a run takes over what it
    /// started in an earlier iteration, and nobody else does.
    pub fn start(self, id: TaskId, by: Option<&str>, now: i64) -> Result<Moved, TaskError> {
        self.to(TaskState::InProgress, id, by, now)
    }

    pub fn close(self, id: TaskId, now: i64) -> Result<Moved, TaskError> {
        self.to(TaskState::Closed, id, None, now)
    }

    pub fn fail(self, id: TaskId, now: i64) -> Result<Moved, TaskError> {
        self.to(TaskState::Failed, id, None, now)
    }

    pub fn reopen(self, id: TaskId, now: i64) -> Result<Moved, TaskError> {
        self.to(TaskState::Open, id, None, now)
    }

    /// Whether a person has to look at it.
    pub fn set_needs_review(self, id: TaskId, needs_review: bool, now: i64) -> Result<Moved, TaskError> {
        let step = self.work.step()?;
        let was_so = read(&step, id)?.needs_review == needs_review;
        if !was_so {
            let update = "UPDATE tasks SET needs_review = ?2, changed = ?3 WHERE id = ?1";
            step.execute(update, params![id, needs_review, now])?;
        }
        let task = read(&step, id)?;
        step.commit()?;
        Ok(Moved { task, was_so })
    }

    fn to(self, wanted: TaskState, id: TaskId, by: Option<&str>, now: i64) -> Result<Moved, TaskError> {
        let step = self.work.step()?;
        let before = read(&step, id)?;
        let was_so = before.state == wanted;
        check(&before, wanted, by)?;
        let started_by = match wanted {
            TaskState::InProgress => by,
            TaskState::Open => None,
            TaskState::Closed | TaskState::Failed => before.started_by.as_deref(),
        };
        if !was_so || before.started_by.as_deref() != started_by {
            let update = "UPDATE tasks SET state = ?2, started_by = ?3, changed = ?4 WHERE id = ?1";
            step.execute(update, params![id, wanted, started_by, now])?;
        }
        let task = read(&step, id)?;
        step.commit()?;
        Ok(Moved { task, was_so })
    }
}

fn check(task: &Task, wanted: TaskState, by: Option<&str>) -> Result<(), TaskError> {
    let id = task.id;
    match (task.state, wanted) {
        (TaskState::InProgress, TaskState::InProgress) => {
            if task.started_by.as_deref().map(run_of) == by.map(run_of) {
                Ok(())
            } else {
                Err(TaskError::Held { id, by: task.started_by.clone() })
            }
        }
        (TaskState::Open, TaskState::InProgress) => match task.waits_for() {
            blockers if blockers.is_empty() => Ok(()),
            blockers => Err(TaskError::Waits { id, blockers }),
        },
        (_, TaskState::Open) | (TaskState::Open | TaskState::InProgress, _) => Ok(()),
        (is, wanted) if is == wanted => Ok(()),
        (is, wanted) => Err(TaskError::State { id, is, wanted }),
    }
}
