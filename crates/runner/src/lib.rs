//! Processes that rules and gates start, with limits on their time, environment, output and writable paths.
//!
//! [`BoundedProcess`] runs a process and keeps the end of its output. [`StreamedProcess`] runs a process and passes its
//! output on immediately. Both start the program through the [`shim`], which the binary's `main` has to call.
//! [`PathLocks`] keep two processes from changing the same file. This crate does not know rules, or which files are
//! judged.

mod bounded_process;
mod caches;
mod environment;
#[cfg_attr(not(target_os = "linux"), path = "landlock_unsupported.rs")]
mod landlock;
mod leftover_processes;
mod not_started;
mod path_locks;
mod process_group;
mod process_group_id;
mod program;
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
pub use landlock::is_sandbox_supported;
pub use leftover_processes::LeftoverProcesses;
pub use not_started::NotStarted;
pub use path_locks::PathLocks;
pub use process_group_id::ProcessGroupId;
pub use sandbox::SandboxMode;
pub use streamed_process::{ProcessEnd, Stream, StreamedProcess};
pub use tail::OUTPUT_LIMIT;
pub use watch_action::WatchAction;
