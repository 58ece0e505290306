//! The one path from an event to an answer.
//!
//! Whatever the source of an event, it goes the same way: the policy in force is found, facts are gathered as judging
//! asks for them, [`engine::decide`] judges, the journal keeps what happened, and the verdict is told. This crate also
//! holds the one place that decides what becomes of an event when something on that way fails: [`failure`].

pub mod acceptance;
mod acknowledgement;
pub mod allowance;
pub mod dry_run;
pub mod environment;
mod external_behavior;
pub mod failure;
mod file_facts;
pub mod file_limit;
pub mod file_rules;
mod glob;
mod hook;
mod input_record;
mod judge;
pub mod lifting;
mod live_facts;
pub mod loops;
mod masked_command;
mod new_versions;
mod observing;
mod pace_facts;
pub mod pause;
mod plain_text;
pub mod project;
mod recorded_event;
mod recorded_facts;
pub mod replay;
mod rule_deeds;
pub mod session_policy;
mod session_root;
mod task_claims;
mod task_facts;
pub mod token_count;
pub mod trial;
pub mod trust;
mod watchdog;
mod whose_session;
pub mod workflow;
mod written;

pub use acknowledgement::{AcknowledgedBy, Acknowledgement};
pub use environment::Environment;
pub use failure::Failure;
pub use hook::hook;
pub use judge::{Judge, Judged, TRIAL_SESSION, place};
pub use live_facts::held_rule;
pub use pace_facts::PaceError;
pub use pause::Pause;
pub use project::Project;
pub use replay::Replay;
pub use task_claims::note_claim;
pub use task_facts::TaskFacts;
pub use whose_session::{CommandRun, Whose};
