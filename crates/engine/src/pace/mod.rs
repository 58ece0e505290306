//! Pace rules: they notice when the work goes in circles.
//!
//! A pace rule is about a phase: for a rule of a workflow one visit to a node, for any other the session. This module says
//! which of what happens counts for a rule ([`Activity`]), whether it is too much ([`PaceRule::judge`]), and how that is
//! told ([`Interrupt`]). Where counts are kept, and whether anybody is stopped, is not known here.

mod activity;
mod format;
mod history;
mod interrupt;
mod pace_rule;
mod pace_state;
mod progress;
mod violation;

#[cfg(test)]
mod tests;

pub use activity::{Activity, Attempt};
pub use format::{duration as shown_duration, times as shown_times};
pub use history::History;
pub use interrupt::Interrupt;
pub use pace_rule::{LiveMode, PaceLimit, PaceRule, PaceRuleRef, TokenKind, Tokens};
pub use pace_state::{PaceState, Phase, Tally};
pub use violation::Violation;
