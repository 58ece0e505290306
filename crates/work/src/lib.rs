//! The work of a project: what is left to do (tasks), what was learnt (memories), and the runs of its loop, in one SQLite
//! database a project.
//!
//! It is another file than the journal, so that no hook pays for its tables: only who runs in a loop opens it, and who asks
//! for tasks. This crate owns what is in that file; it knows no rules, no gates and no processes. Texts enter it masked, as
//! they enter the journal.

mod error;
mod open;
mod run;
mod runs;

pub use error::WorkError;
pub use open::Work;
pub use run::{Ending, Iteration, Outcome, Published, Run, RunEnd, RunId, Spent};
pub use runs::{HandOver, HandedOver, IterationEnd};

pub type Result<T> = std::result::Result<T, WorkError>;
