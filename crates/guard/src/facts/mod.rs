//! Facts that rules may ask for: about the session, the repository, files, tasks, the workflow and the run of a loop.
//!
//! [`LiveFacts`] computes facts and records those that were used. [`RecordedFacts`] reads recorded facts from the
//! journal. This module does not judge events.

mod active_workflow;
mod fact_names;
mod fact_sources;
mod git_facts;
pub(crate) mod glob;
pub(crate) mod input_record;
mod live_facts;
mod loop_facts;
pub(crate) mod pace_facts;
mod past_workflow;
mod path_lookup;
mod path_record;
mod ran_commands;
mod recorded_facts;
mod session_scripts;
mod situation_builder;
mod task_facts;
pub mod token_count;
mod variable_overlay;

pub use active_workflow::ActiveWorkflow;
pub use fact_names::held_rule;
pub(crate) use fact_names::{SESSION_VARIABLE_PREFIX, directory_of_changes, hold_counter};
pub(crate) use live_facts::LiveFacts;
pub use pace_facts::PaceError;
pub(crate) use past_workflow::PastWorkflow;
pub(crate) use path_lookup::MAX_PATH_LENGTH;
pub(crate) use path_record::{PATHS_FACT, PathRecord};
pub(crate) use recorded_facts::{PastSession, RecordedFacts, missing_paths_fact};
pub(crate) use situation_builder::SituationBuilder;
pub use situation_builder::base_directories;
pub use task_facts::TaskFacts;
