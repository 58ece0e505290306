//! File rules at run time.
//!
//! [`engine::file_rules`] judges a given set of changes. Here, [`ChangedFiles`] finds the changes, [`Queue`] stores
//! the demands, and [`DemandTracker`] tracks the demands of one session and their answers.

use std::time::Duration;

mod attribution;
mod changed_files;
mod cleanup;
mod command_action;
mod demand_tracker;
mod file_facts;
mod judged_file_rules;
mod manual_answer;
mod prepare;
mod promise;
mod prompt_baseline;
mod queue;
mod read_only_command;
mod session_baseline;

pub use attribution::Attribution;
pub use changed_files::{ChangedFiles, ChangedSince};
pub use command_action::{CommandResult, Commands, failed_command_text};
pub(crate) use demand_tracker::answered_files;
pub use demand_tracker::{DemandTracker, open_queue_entries};
pub(crate) use file_facts::{
    FileFacts, FileFactsBuilder, changes_fact, changes_of_record, changes_record, demand_fact, demand_of_record,
    demand_record,
};
pub use judged_file_rules::{CommandResults, JudgedFileRules};
pub use manual_answer::ManualAnswer;
pub use prepare::FileRulePreparation;
pub use promise::{UnmatchedPromises, promises};
pub use prompt_baseline::{PromptBaseline, timestamp};
pub use queue::{ActionResult, BaselineName, Queue, QueueEntry, QueueStatus, trigger_hash};
pub use session_baseline::SessionBaseline;

/// The time limit of one git call for file rules. Only stops, prompts and commands wait for git.
pub const GIT_TIMEOUT: Duration = Duration::from_secs(10);
