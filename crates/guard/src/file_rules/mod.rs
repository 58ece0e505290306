//! File rules at run time.
//!
//! [`engine::file_rules`] judges a given set of changes. Here, [`SessionChanges`] finds the changes, [`Queue`] stores
//! the demands, and [`SessionDemands`] settles them for one session.

use std::time::Duration;

mod attribution;
mod changed;
mod cleanup;
mod command_action;
mod demands;
mod file_facts;
mod manual_answer;
mod promise;
mod prompt_baseline;
mod queue;
mod session_demands;
mod session_start;

pub use attribution::Attribution;
pub use changed::{ChangedSince, SessionChanges};
pub use cleanup::delete_old;
pub use command_action::{CommandResult, Commands, failed_command_text};
pub use demands::{CommandResults, Demands};
pub(crate) use file_facts::{
    FileFacts, FileFactsBuilder, answered_fact, answered_of_record, answered_record, changes_fact, changes_of_record,
    changes_record,
};
pub use manual_answer::ManualAnswer;
pub use promise::{UnmatchedPromises, promises};
pub use prompt_baseline::{PromptBaseline, PromptSnapshots, timestamp};
pub use queue::{ActionResult, Queue, QueueEntry, QueueStatus, Reference, trigger_hash};
pub(crate) use session_demands::answered_files;
pub use session_demands::{SessionDemands, open_demands};
pub use session_start::SessionStart;

/// The time limit of one git call. Only stops and prompts wait for git.
pub const GIT_LIMIT: Duration = Duration::from_secs(10);
