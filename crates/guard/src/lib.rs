//! The steps from an event to the answer, and from a command such as `next` to the workflow's next node.
//!
//! A hook, a dry run and `replay` take the same steps: find the policy, collect the facts that rules ask for, judge with
//! `engine::decide`, write to the journal, answer. Only [`failure`] decides the verdict if one of them fails.
//! Moves of a workflow use the same facts and expressions, but are not judged: see [`workflow`].
//!
//! The modules, each of which depends only on those before it: `environment`, [`failure`], [`file_limit`], `plain_text`,
//! `rule_outcomes`; [`grants`]; `project`; [`session`]; `position`; [`file_rules`]; `tree_digest`; [`facts`];
//! [`workflow`]; [`loops`]; [`judge`]; [`check`], [`hook`]; [`replay`].

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
mod position;
mod project;
pub mod replay;
mod rule_outcomes;
pub mod session;
#[cfg(test)]
mod tests;
mod tree_digest;
pub mod workflow;

pub use environment::Environment;
pub use position::{Position, Visit};
pub use project::{Project, nearest_root};
pub use tree_digest::tree_digest;
