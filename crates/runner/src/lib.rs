//! Processes that rules and gates start: bounded in time, environment, output and in what they may write.
//!
//! [`BoundedProcess`] runs a process and keeps the end of its output. [`StreamedProcess`] runs one and passes its
//! output on as it comes. Both start it through the [`shim`], which the binary's `main` has to call. [`PathLocks`] keep
//! two processes from changing the same file. Nothing here knows rules, or which files are judged.

mod bounded_process;
mod caches;
mod environment;
mod leftovers;
mod not_started;
mod path_locks;
mod process_group;
mod process_group_id;
mod program;
#[cfg_attr(not(target_os = "linux"), path = "restriction_unsupported.rs")]
mod restriction;
mod sandbox;
pub mod shim;
mod streamed_process;
mod tail;
mod watch_action;

#[cfg(test)]
#[cfg(unix)]
mod tests;

pub use bounded_process::{BoundedProcess, OutputSoFar, ProcessNote, ProcessOutcome};
pub use environment::{INHERITED_VARIABLES, STARTED_BY};
pub use leftovers::Leftovers;
pub use not_started::NotStarted;
pub use path_locks::PathLocks;
pub use process_group_id::ProcessGroupId;
pub use restriction::is_supported;
pub use sandbox::Confinement;
pub use streamed_process::{ProcessEnd, Stream, StreamedProcess};
pub use tail::OUTPUT_LIMIT;
pub use watch_action::WatchAction;
