//! The decision engine: takes an event, facts and compiled rules, and returns a decision.
//!
//! This crate is pure. It has no clock, environment, files, processes or random numbers: the time comes with the
//! [`Event`], everything else through [`Facts`]. The same inputs always give the same decision, so a replay judges
//! recorded events in the same way as live ones.

mod ack_by;
pub mod behavior_names;
pub mod bounded_regex;
pub mod decide;
pub mod event;
pub mod expr;
pub mod facts;
pub mod file_rules;
pub mod graph;
pub mod hats;
mod not_enforced;
pub mod observers;
pub mod pace;
pub mod rules;
pub mod situation;
pub mod suggest;
mod value_cache;
pub mod verdict;
pub mod workflow;

pub use decide::{Decision, DecisionRequest, decide};
pub use event::{Event, EventKind};
pub use expr::template;
pub use facts::Facts;
pub use not_enforced::NotEnforced;
pub use situation::{BaseDirectories, Situation};
pub use verdict::{Finding, Level, SectionKind, Verdict};
