//! Facts about a project's tasks. The database of tasks is opened when a rule first asks for such a fact.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use engine::facts::{FactStore, Missing, TaskField};
use serde_json::Value;
use work::{TaskCounts, TaskId, Tasks, WorkDatabase, WorkError};

use crate::Environment;
use crate::project::Project;

pub struct TaskFacts {
    path: PathBuf,
    /// The run of a loop that this process belongs to; `None` outside of runs.
    run: Option<String>,
    /// `None` if the database is missing or cannot be read.
    work: OnceLock<Option<Mutex<WorkDatabase>>>,
    /// The numbers of tasks by status; `None` if the database cannot be read. One query reads all numbers, so that a
    /// task whose status is changed meanwhile is counted for only one status.
    counts: OnceLock<Option<TaskCounts>>,
}

impl TaskFacts {
    pub fn of(project: &Project, environment: &Environment) -> Self {
        Self {
            path: project.work_database_path(environment),
            run: environment.get(agents::environment::IN_RUN),
            work: OnceLock::new(),
            counts: OnceLock::new(),
        }
    }

    /// The value of a field of `tasks` in expressions.
    pub fn count(&self, field: TaskField) -> Result<Value, Missing> {
        let run = self.run.as_deref();
        let counts = *self.counts.get_or_init(|| self.query(TaskCounts::default(), |tasks| tasks.counts(run)).ok());
        let TaskCounts { open, ready, in_progress, closed, failed, claimed } = counts.ok_or(UNREADABLE)?;
        Ok(Value::from(match field {
            TaskField::Open => open,
            TaskField::Ready => ready,
            TaskField::InProgress => in_progress,
            TaskField::Closed => closed,
            TaskField::Failed => failed,
            TaskField::StartedInRun => claimed,
        }))
    }

    pub fn tree_is_complete(&self, id: &str) -> Result<bool, Missing> {
        let Some(id) = TaskId::parse(id) else { return Ok(false) };
        self.query(false, |tasks| tasks.trees_are_complete(&[id]))
    }

    pub fn needs_review(&self, id: &str) -> Result<bool, Missing> {
        let Some(id) = TaskId::parse(id) else { return Ok(false) };
        self.query(false, |tasks| tasks.needs_review(id))
    }

    /// The result of `compute` for the project's tasks; `default` if the project has no database of tasks.
    fn query<T>(&self, default: T, compute: impl FnOnce(Tasks<'_>) -> Result<T, WorkError>) -> Result<T, Missing> {
        if !self.path.exists() {
            return Ok(default);
        }
        let work =
            self.work.get_or_init(|| WorkDatabase::open_existing(&self.path).ok().flatten().map(Mutex::new)).as_ref();
        work.and_then(|work| compute(work.lock().ok()?.tasks()).ok()).ok_or(UNREADABLE)
    }
}

const UNREADABLE: Missing = Missing::Unavailable(FactStore::Work);
