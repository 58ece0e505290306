//! The work of a project: what is left to do (tasks), what was learnt (memories), and the runs of its loop, in one SQLite
//! database a project.
//!
//! It is another file than the journal, so that no hook pays for its tables: only who runs in a loop opens it, and who asks
//! for tasks. This crate owns what is in that file; it knows no rules, no gates and no processes. Texts enter it masked, as
//! they enter the journal.

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
mod task_moves;
mod tasks;
mod text;

#[cfg(test)]
mod tests;

pub use database::Work;
pub use error::WorkError;
pub use memories::{Memories, MemoryFilter};
pub use memory::{Memory, MemoryError, MemoryId, MemoryKind};
pub use run::{Ending, Iteration, IterationOutcome, Published, Run, RunEnd, RunId, RunUsage};
pub use runs::{HandOver, HandedOver, IterationEnd};
pub use task::{Blocker, PRIORITIES, Task, TaskId, TaskState, TaskText, USUAL_PRIORITY};
pub use task_error::TaskError;
pub use task_moves::{Moved, starter};
pub use tasks::{Ensured, TITLE, TaskCounts, Tasks};
pub use text::TextError;

pub(crate) type Result<T, E = WorkError> = std::result::Result<T, E>;
