//! Facts that rules may ask for: about the session, the repository, files, tasks, the workflow and the run of a loop.
//!
//! [`LiveFacts`] computes them and records those that were used; [`RecordedFacts`] answers from the record. This module
//! makes no decisions.

mod active;
mod fact_names;
mod git_facts;
pub(crate) mod glob;
pub(crate) mod input_record;
mod live_facts;
mod loop_facts;
mod observed_variables;
pub(crate) mod pace_facts;
mod past_workflow;
mod path_lookup;
mod path_record;
mod position;
mod recorded_facts;
mod session_journal;
mod situation_builder;
mod task_facts;
pub mod token_count;
mod written;

pub use active::Active;
pub use fact_names::held_rule;
pub(crate) use fact_names::{SESSION_VARIABLE, hold_counter};
pub(crate) use live_facts::LiveFacts;
pub use pace_facts::PaceError;
pub(crate) use past_workflow::PastWorkflow;
pub(crate) use path_lookup::LONGEST_PATH;
pub(crate) use path_record::{LINKS, PathRecord};
pub use position::{Position, Visit};
pub(crate) use recorded_facts::{Past, RecordedFacts, unsure_paths};
pub(crate) use situation_builder::SituationBuilder;
pub use situation_builder::place;
pub use task_facts::TaskFacts;
