//! The loop: starts an agent again and again, each time under one hat and with fresh context, until the work is done or
//! something ends it.
//!
//! What an agent may hand over is judged by `guard` when the agent says so; the driver only waits for it. Every step of a run
//! is in `work` once it is made, so that a driver that dies at any point loses nothing, and `resume` goes on from there. Nothing
//! here prints: the caller receives each [`RunEvent`].

mod active_run;
mod agent_command;
mod agent_log;
mod agent_output;
mod agent_watch;
mod conclusion;
mod drive;
mod driver;
mod iteration;
mod leftovers;
mod limit;
mod next_topic;
mod progress_command;
mod prompt;
mod reported_usage;
mod run_end;
mod run_event;
mod run_lock;
mod signals;
mod turn;
mod unusable_agent;

pub use driver::{DriveError, Driver};
pub use leftovers::{end_leftovers, leftovers};
pub use next_topic::can_go_on;
pub use prompt::first_prompt;
pub use run_event::RunEvent;
pub use run_lock::{RunLock, running};
pub use signals::Signals;
