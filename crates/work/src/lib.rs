//! Tasks, memories, and runs of the loop, in one SQLite database per project.
//!
//! The database is separate from the journal, so that hooks do not have to parse its tables: only runs of a loop and
//! queries for tasks open it. This crate owns the database file; it must not know rules, gates or processes. Like the
//! journal, it stores strings masked.

mod database;
mod error;
mod memories;
mod memory;
mod open;
mod run;
mod runs;
mod task;
mod task_error;
mod task_graph;
mod task_transitions;
mod tasks;
mod text_checks;

#[cfg(test)]
mod tests;

pub use database::WorkDatabase;
pub use error::WorkError;
pub use memories::{Memories, MemoryFilter};
pub use memory::{Memory, MemoryError, MemoryId, MemoryKind};
pub use run::{Iteration, IterationOutcome, PublishedTopic, Run, RunEnd, RunId, RunOutcome, RunUsage};
pub use runs::{HandOver, HandOverOutcome, IterationEnd};
pub use task::{Blocker, DEFAULT_PRIORITY, PRIORITIES, Task, TaskDraft, TaskId, TaskState};
pub use task_error::TaskError;
pub use task_transitions::{TaskChange, starter_id, starter_text};
pub use tasks::{EnsuredTask, TITLE_LABEL, TaskCounts, Tasks};
pub use text_checks::TextError;

pub(crate) type Result<T, E = WorkError> = std::result::Result<T, E>;
