//! The loop: starts agents one after another, each under one hat and with a fresh context, until the work is done or
//! the run ends for another reason.
//!
//! `guard` judges a hand-over when the agent calls `emit`; the driver only waits for the agent to end. Every step of a
//! run is stored in the work database at once, so a run whose driver was killed can be resumed. This crate prints
//! nothing: the caller receives each [`RunEvent`].

mod active_run;
mod agent_command;
mod agent_log;
mod agent_output;
mod agent_process;
mod agent_result;
mod agent_watch;
mod driver;
mod iteration;
mod leftovers;
mod limit;
mod next_topic;
mod progress_command;
mod prompt;
mod reported_usage;
mod run_conclusion;
mod run_event;
mod run_lock;
mod run_loop;
mod signals;
mod unusable_agent;

pub use driver::{DriveError, Driver};
pub use leftovers::{end_leftovers, find_leftovers};
pub use next_topic::can_resume;
pub use prompt::first_prompt;
pub use run_event::RunEvent;
pub use run_lock::{RunLock, active_run_id};
pub use signals::Signals;
