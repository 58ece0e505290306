//! Linchpin's judgement: what happened, what is known and what the team wrote down go in; a decision comes out.
//!
//! This crate is pure. It has no clock, environment, file, process or random number: time comes with the [`Event`],
//! knowledge through [`Facts`]. So the same inputs always give the same decision, and judging history again is
//! just judging again.

mod ack;
pub mod behavior_names;
mod converted;
pub mod decide;
pub mod event;
pub mod expr;
pub mod facts;
pub mod file_rules;
pub mod graph;
pub mod hats;
mod lifted;
pub mod observers;
pub mod pace;
pub mod rules;
pub mod search;
pub mod situation;
pub mod suggest;
pub mod verdict;
mod whereabouts;
pub mod workflow;

pub use decide::{Decision, Inquiry, decide};
pub use event::{Event, EventKind};
pub use expr::template;
pub use facts::Facts;
pub use lifted::Lifted;
pub use situation::{Place, Situation};
pub use verdict::{Finding, Level, Section, Verdict};
