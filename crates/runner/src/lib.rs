//! Processes that rules and gates start: bounded in time, environment, output and in what they may write.
//!
//! [`BoundedProcess`] starts one and waits for it, [`Attended`] one that is listened to while it runs. It is started by way of the [`shim`], which has to be called by the binary's
//! `main`. [`PathLocks`] keep two processes from one file. Nothing here knows rules, or files to be judged.

mod attended;
mod caches;
mod environment;
mod group;
mod group_id;
mod heed;
mod leftovers;
mod not_started;
mod path_locks;
mod process;
mod program;
#[cfg_attr(not(target_os = "linux"), path = "restriction_elsewhere.rs")]
mod restriction;
mod sandbox;
pub mod shim;
mod tail;

#[cfg(test)]
#[cfg(unix)]
mod tests;

pub use attended::{Attended, AttendedEnd, Stream};
pub use environment::{STARTED_BY, VARIABLES};
pub use group_id::GroupId;
pub use heed::Heed;
pub use leftovers::Leftovers;
pub use not_started::NotStarted;
pub use path_locks::PathLocks;
pub use process::{BoundedProcess, OutputSoFar, ProcessNote, ProcessOutcome};
pub use restriction::is_supported;
pub use sandbox::Confinement;
pub use tail::OUTPUT_LIMIT;
