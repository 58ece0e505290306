//! File rules at work: which files changed and by whom, what was asked for before, and what came of it.
//!
//! [`engine::file_rules`] says what a set of changes lacks. Here is the rest of it: [`SessionChanges`] finds the changes,
//! [`Queue`] remembers what was asked for, [`Settlement`] brings the two together for one session.

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

/// How long one call of git may take. A stop waits for it, and nothing else does.
pub const GIT_LIMIT: Duration = Duration::from_secs(10);
