//! File rules at run time.
//!
//! [`engine::file_rules`] judges a given set of changes. Here, [`SessionChanges`] finds the changes, [`Queue`] stores
//! the demands, and [`DemandTracker`] tracks the demands of one session and their answers.

use std::time::Duration;

mod attribution;
mod cleanup;
mod command_action;
mod demand_tracker;
mod file_facts;
mod manual_answer;
mod open_demands;
mod prepare;
mod promise;
mod prompt_baseline;
mod queue;
mod session_baseline;
mod session_changes;

pub use attribution::Attribution;
pub use command_action::{CommandResult, Commands, failed_command_text};
pub(crate) use demand_tracker::answered_files;
pub use demand_tracker::{DemandTracker, open_queue_entries};
pub(crate) use file_facts::{
    FileFacts, FileFactsBuilder, answered_fact, answered_of_record, answered_record, changes_fact, changes_of_record,
    changes_record,
};
pub use manual_answer::ManualAnswer;
pub use open_demands::{CommandResults, OpenDemands};
pub use prepare::FileRulePreparation;
pub use promise::{UnmatchedPromises, promises};
pub use prompt_baseline::{PromptBaseline, timestamp};
pub use queue::{ActionResult, BaselineName, Queue, QueueEntry, QueueStatus, trigger_hash};
pub use session_baseline::SessionBaseline;
pub use session_changes::{ChangedSince, SessionChanges};

/// The time limit of one git call. Only stops and prompts wait for git.
pub const GIT_LIMIT: Duration = Duration::from_secs(10);
