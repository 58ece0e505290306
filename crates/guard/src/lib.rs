//! The one path from an event to an answer.
//!
//! Every event takes the same path, whatever its source: find the policy, gather the facts that rules ask for, judge
//! with [`engine::decide`], record to the journal, answer. [`failure`] alone decides the verdict when a step of that
//! path fails.
//!
//! The modules from the bottom up, each depending only on those before it: `environment`, `failure`; [`grants`];
//! `project`; [`session`]; [`file_rules`]; [`facts`]; [`workflow`]; [`loops`]; [`judge`]; [`check`], [`hook`];
//! [`replay`].

pub mod check;
mod environment;
pub mod facts;
pub mod failure;
pub mod file_limit;
pub mod file_rules;
pub mod grants;
pub mod hook;
pub mod judge;
pub mod loops;
mod plain_text;
mod project;
pub mod replay;
mod rule_outcomes;
pub mod session;
#[cfg(test)]
mod tests;
pub mod workflow;

pub use environment::Environment;
pub use project::{Project, nearest_root};
