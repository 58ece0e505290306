//! File rules in a working tree.
//!
//! [`engine::file_rules`] judges a given set of changes. In this module, [`ChangedFiles`] finds the changes, [`Queue`]
//! stores the demands, and [`DemandTracker`] tracks which demands a session got and which were answered.

use std::time::Duration;

mod attribution;
mod baseline_id;
mod changed_files;
mod cleanup;
mod command_action;
mod demand_tracker;
mod fact_record;
mod file_facts;
mod judged_file_rules;
mod manual_answer;
mod open_demand;
mod prepare;
mod promise;
mod prompt_baseline;
mod queue;
mod read_only_command;
mod session_baseline;

pub use attribution::Attribution;
pub use baseline_id::BaselineId;
pub use changed_files::{ChangedFiles, ChangedSince};
pub use command_action::{CommandResult, CommandRunner, failed_command_text};
pub(crate) use demand_tracker::answered_files;
pub use demand_tracker::{DemandTracker, open_queue_entries};
pub(crate) use fact_record::{
    changes_fact, changes_of_record, changes_record, demand_fact, demand_of_record, demand_record,
};
pub(crate) use file_facts::{FileFacts, FileFactsBuilder};
pub use judged_file_rules::{CommandResults, JudgedFileRules};
pub use manual_answer::{AnswerOutcome, ManualAnswer};
pub use open_demand::OpenDemand;
pub use prepare::FileRulePreparation;
pub use promise::{UnmatchedPromises, promises};
pub use prompt_baseline::PromptBaseline;
pub use queue::{ActionResult, Queue, QueueEntry, QueueStatus, demand_hash};
pub use session_baseline::{SessionBaseline, repository_id};

/// The time limit of one git call for file rules. At stops and prompts, the deadline of the hook is extended by it. A
/// tool call waits for git only if a rule's `when` calls `file_rule_met`, and then until the usual deadline.
pub const GIT_TIMEOUT: Duration = Duration::from_secs(10);
