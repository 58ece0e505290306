//! File rules at work: which files changed and by whom, what was asked for before, and what came of it.
//!
//! [`engine::file_rules`] says what a set of changes lacks. Here is the rest of it: [`Changed`] finds the changes,
//! [`Queue`] remembers what was asked for, [`Settlement`] brings the two together for one session.

mod acknowledging;
mod attribution;
mod changed;
mod check;
mod check_facts;
mod command_action;
mod demands;
mod forgetting;
mod promise;
mod prompt_baseline;
mod queue;
mod session_start;
mod settlement;

pub use acknowledging::acknowledge;
pub use attribution::Attribution;
pub use changed::{Changed, ChangedSince, FileNotice, GIT_LIMIT};
pub use check::{Check, Checked, CheckedRule, Compared, STORED, check};
pub use command_action::{CommandResult, Commands, told};
pub use demands::{Demands, Ran};
pub use forgetting::forget_old;
pub use promise::{Unheard, promises};
pub use prompt_baseline::{KeptBaselines, PromptBaseline, timestamp};
pub use queue::{ActionResult, Queue, QueueEntry, QueueStatus, Reference, trigger_hash};
pub use session_start::SessionStart;
pub use settlement::{Settlement, open_demands};
