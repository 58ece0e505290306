//! Pace rules detect that work goes in circles or takes too long.
//!
//! A pace rule counts per phase: for a rule of a workflow, one visit to a node; for any other rule, the session. This
//! module decides what a rule counts ([`Activity`]), whether its limit is exceeded ([`PaceRule::judge`]), and what the
//! agent reads ([`Interrupt`]). It neither stores counts nor enforces anything.

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
pub use format::{duration as format_duration, times as format_times};
pub use history::History;
pub use interrupt::Interrupt;
pub use pace_rule::{LiveMode, PaceLimit, PaceRule, PaceRuleRef, TokenKind, Tokens};
pub use pace_state::{PaceState, Phase, Tally};
pub use violation::Violation;
