//! What a judgement may ask about: the session, the repository, files, tasks, the workflow and the run of a loop.
//!
//! [`LiveFacts`] look at the world as it is and write down what was asked for; [`RecordedFacts`] answer from what was
//! written down. Nothing here decides anything.

mod active;
pub(crate) mod glob;
pub(crate) mod input_record;
mod live_facts;
mod loop_facts;
pub(crate) mod pace_facts;
mod past_workflow;
mod position;
mod recorded_facts;
mod task_facts;
pub mod token_count;
mod written;

pub use active::Active;
pub use live_facts::held_rule;
pub(crate) use live_facts::{
    LINKS, LONGEST_PATH, LiveFacts, SESSION_VARIABLE, SessionJournal, hold_counter, links_fact,
};
pub(crate) use loop_facts::LoopFacts;
pub use pace_facts::PaceError;
pub(crate) use past_workflow::PastWorkflow;
pub use position::{Position, Visit};
pub(crate) use recorded_facts::{Past, RecordedFacts, unsure_paths};
pub use task_facts::TaskFacts;
