//! The one path from an event to an answer.
//!
//! Every event goes the same way, whatever its source: the policy in force is found, facts are gathered as judging asks
//! for them, [`engine::decide`] judges, the journal keeps what happened, and the verdict is told. [`failure`] alone decides
//! what becomes of an event when something on that way fails.
//!
//! The rooms, from the bottom up; each knows only those before it: `environment`, `failure`; [`grants`]; `project`;
//! [`session`]; [`file_rules`]; [`facts`]; [`workflow`]; [`loops`]; [`judge`]; [`check`], [`hook`]; [`replay`].

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
mod rule_deeds;
pub mod session;
pub mod workflow;

pub use environment::Environment;
pub use project::{Project, nearest_root};
