//! Pace rules: they notice when the work goes in circles.
//!
//! A pace rule is about a phase: for a rule of a workflow one visit to a node, for any other the session. This module says
//! which of what happens counts for a rule ([`Happening`]), whether it is too much ([`PaceRule::judge`]), and how that is
//! told ([`Interrupt`]). Where counts are kept, and whether anybody is stopped, is not known here.

mod happening;
mod history;
mod interrupt;
mod measure;
mod pace_rule;
mod progress;
mod tally;
mod violation;

#[cfg(test)]
mod tests;

pub use happening::{Attempt, Happening};
pub use history::History;
pub use interrupt::Interrupt;
pub use measure::{duration as shown_duration, times as shown_times};
pub use pace_rule::{Limit, Live, PaceRule, PaceRuleRef, TokenKind, Tokens};
pub use tally::{Phase, Standing, Tally};
pub use violation::Violation;
