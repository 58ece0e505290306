//! The loop: starts an agent again and again, each time under one hat and with fresh context, until the work is done or
//! something ends it.
//!
//! What an agent may hand over is judged by `guard` when it says so; here it is only waited for. What a run has come to is in
//! `work` after every step, so that a driver that dies at any point loses nothing, and `resume` goes on from there. Nothing
//! here prints: whoever drives is told [`News`].

mod agent;
mod attention;
mod drive;
mod iteration;
mod known;
mod leftovers;
mod limit;
mod lock;
mod news;
mod progress;
mod said;
mod signals;
mod trouble;
mod turn;

pub use drive::{Driver, NotDriven, can_go_on};
pub use known::first_prompt;
pub use leftovers::{end_leftovers, leftovers};
pub use lock::{RunLock, running};
pub use news::News;
pub use signals::Signals;
