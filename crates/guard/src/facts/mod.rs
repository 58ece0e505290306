//! Facts that rules may ask for: about the session, the repository, files, tasks, the workflow and the run of a loop.
//!
//! [`LiveFacts`] computes them and records those that were used; [`RecordedFacts`] reads them from the record. This
//! module makes no decisions.

mod active_workflow;
mod fact_names;
mod fact_sources;
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
mod recorded_facts;
mod session_context;
mod session_scripts;
mod task_facts;
pub mod token_count;

pub use active_workflow::ActiveWorkflow;
pub use fact_names::held_rule;
pub(crate) use fact_names::{SESSION_VARIABLE_PREFIX, hold_counter};
pub(crate) use live_facts::LiveFacts;
pub use pace_facts::PaceError;
pub(crate) use past_workflow::PastWorkflow;
pub(crate) use path_lookup::MAX_PATH_LENGTH;
pub(crate) use path_record::{PATHS_FACT, PathRecord};
pub(crate) use recorded_facts::{PastSession, RecordedFacts, missing_paths_fact};
pub(crate) use session_context::SessionContext;
pub use session_context::base_folders;
pub use task_facts::TaskFacts;
