//! File rules at work: which files changed and by whom, what was asked for before, and what came of it.
//!
//! [`engine::file_rules`] says what a set of changes lacks. Here is the rest of it: [`Changed`] finds the changes,
//! [`Queue`] remembers what was asked for, [`Settlement`] brings the two together for one session.

mod attribution;
mod changed;
mod check;
mod promise;
mod prompt_baseline;
mod queue;
mod settlement;

pub use attribution::Attribution;
pub use changed::{Changed, ChangedSince, FileNotice, GIT_LIMIT};
pub use check::{Check, CheckedRule, Compared, check};
pub use promise::promises;
pub use prompt_baseline::PromptBaseline;
pub use queue::{ActionResult, Queue, QueueEntry, QueueStatus, trigger_hash};
pub use settlement::Settlement;
