//! Judges events of agents by a project's policy, and moves workflows.
//!
//! A hook takes these steps: find the policy, judge the event with `engine::decide`, compute the facts that rules ask
//! for, write the journal, answer. A dry run and `linchpin replay` take the same steps, but write nothing. If a step
//! fails, [`failure`] decides the verdict. Moves of a workflow use the same facts and expressions, but are not judged:
//! see [`workflow`].
//!
//! The modules in the order of their layers: `environment`, [`failure`], [`file_size_limit`], `notices`, `plain_text`,
//! `regular_file`, `rule_outcomes`, `timestamp`; [`grants`]; `project`; [`session`]; `position`; [`file_rules`];
//! `tree_digest`; [`facts`]; [`workflow`]; [`loops`]; [`judge`]; [`check`], [`hook`]; [`replay`].

pub mod check;
mod environment;
pub mod facts;
pub mod failure;
pub mod file_rules;
pub mod file_size_limit;
pub mod grants;
pub mod hook;
pub mod judge;
pub mod loops;
mod notices;
mod plain_text;
mod position;
mod project;
mod regular_file;
pub mod replay;
mod rule_outcomes;
pub mod session;
#[cfg(test)]
mod tests;
mod timestamp;
mod tree_digest;
pub mod workflow;

pub use environment::Environment;
pub use position::{PhaseRecord, Position};
pub use project::{Project, nearest_root};
pub use timestamp::timestamp;
pub use tree_digest::tree_digest;
