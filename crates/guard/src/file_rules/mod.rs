//! File rules at run time.
//!
//! [`engine::file_rules`] judges a given set of changes. Here, [`SessionChanges`] finds the changes, [`Queue`] stores
//! the demands, and [`Settlement`] settles them for one session.

use std::time::Duration;

mod acknowledging;
mod attribution;
mod changed;
mod command_action;
mod demands;
mod file_facts;
mod forgetting;
mod promise;
mod prompt_baseline;
mod queue;
mod session_start;
mod settlement;

pub use acknowledging::AnswerByHand;
pub use attribution::Attribution;
pub use changed::{ChangedSince, SessionChanges};
pub use command_action::{CommandResult, Commands, told};
pub use demands::{Demands, Ran};
pub(crate) use file_facts::{
    FileFacts, FileSetting, answered_fact, answered_of_record, answered_record, changes_fact, changes_of_record,
    changes_record,
};
pub use forgetting::forget_old;
pub use promise::{Unheard, promises};
pub use prompt_baseline::{KeptBaselines, PromptBaseline, timestamp};
pub use queue::{ActionResult, Queue, QueueEntry, QueueStatus, Reference, trigger_hash};
pub use session_start::SessionStart;
pub(crate) use settlement::settled;
pub use settlement::{Settlement, open_demands};

/// The time limit of one git call. Only stops and prompts wait for git.
pub const GIT_LIMIT: Duration = Duration::from_secs(10);
