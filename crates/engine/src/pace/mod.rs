//! Pace rules detect that work is repeated without progress or takes too long.
//!
//! A pace rule counts per phase. For a rule of a workflow, a phase is the time at one node; for any other rule, a phase
//! is the whole session. This module decides what a rule counts ([`Activity`]), whether the limit of the rule is
//! violated ([`PaceRule::judge`]), and what the agent reads ([`Interrupt`]). This module neither stores counts nor
//! enforces limits.

mod activity;
mod format;
mod interrupt;
mod pace_rule;
mod pace_state;
mod phase_history;
mod progress;
mod violation;

#[cfg(test)]
mod tests;

pub use activity::{Activity, Attempt};
pub use format::{duration as format_duration, times as format_times};
pub use interrupt::Interrupt;
pub use pace_rule::{LiveMode, PaceLimit, PaceRule, PaceRuleRef, TokenKind, Tokens};
pub use pace_state::{PaceState, Phase, Tally};
pub use phase_history::PhaseHistory;
pub use violation::Violation;
