//! Shows how much of a limit is used.

use super::format::{count, duration};
use super::violation::SINCE_CONTINUE;
use super::{PaceLimit, PaceRule, PaceState, Tally};

impl PaceRule {
    /// Says in a few words how much of the limit is used.
    pub fn progress(&self, state: &PaceState) -> String {
        match (&self.limit, &state.tally) {
            (
                PaceLimit::RepeatedCommand { threshold, window, .. }
                | PaceLimit::RepeatedFileEdit { threshold, window, .. },
                Tally::Attempts(attempts),
            ) => {
                let noun = self.limit.repeated_noun().unwrap_or_default();
                format!("{} of {threshold} {noun} in {}", attempts.len(), duration(*window))
            }
            (PaceLimit::PhaseTimeout { max_duration }, _) => {
                let elapsed = u64::try_from(state.phase.elapsed() / 1000).unwrap_or(0);
                describe_used(elapsed, *max_duration, state.continued_from, "", duration)
            }
            (PaceLimit::TokenBudget { max_tokens, count: kinds }, Tally::Tokens(Some(tokens))) => {
                describe_used(tokens.sum(kinds), *max_tokens, state.continued_from, " tokens", count)
            }
            (PaceLimit::TokenBudget { .. }, _) => "tokens: unknown".to_owned(),
            (PaceLimit::RequireCommits { .. }, Tally::Commits { count: Some(0), .. }) => {
                "no commit, and one is needed".to_owned()
            }
            (PaceLimit::RequireCommits { .. }, Tally::Commits { count: Some(1), .. }) => "1 commit".to_owned(),
            (PaceLimit::RequireCommits { .. }, Tally::Commits { count: Some(number), .. }) => {
                format!("{number} commits")
            }
            (PaceLimit::RequireCommits { .. }, _) => "commits: unknown".to_owned(),
            _ => "unknown".to_owned(),
        }
    }
}

/// Describes the used part of a limit. `continued_from` is the total at the last `linchpin continue`. Only the amount
/// above `continued_from` is compared with the limit.
fn describe_used(total: u64, limit: u64, continued_from: u64, unit: &str, format: fn(u64) -> String) -> String {
    let part = format!("{} of {}{unit}", format(total.saturating_sub(continued_from)), format(limit));
    if continued_from == 0 { part } else { format!("{part} {SINCE_CONTINUE}, {} in all", format(total)) }
}
