//! How near a phase is to a limit.

use super::format::{count, duration};
use super::violation::SINCE_CONTINUE;
use super::{PaceLimit, PaceRule, PaceState, Tally};

impl PaceRule {
    /// How much of what is too much there is, in a few words.
    pub fn progress(&self, standing: &PaceState) -> String {
        match (&self.limit, &standing.tally) {
            (
                PaceLimit::RepeatedCommand { threshold, window, .. }
                | PaceLimit::RepeatedFileEdit { threshold, window, .. },
                Tally::Attempts(attempts),
            ) => {
                let what = self.limit.repeated().unwrap_or_default();
                format!("{} of {threshold} {what} in {}", attempts.len(), duration(*window))
            }
            (PaceLimit::PhaseTimeout { max_duration }, _) => {
                let elapsed = u64::try_from(standing.phase.elapsed() / 1000).unwrap_or(0);
                used(elapsed, *max_duration, standing.passed, "", duration)
            }
            (PaceLimit::TokenBudget { max_tokens, count: kinds }, Tally::Tokens(Some(tokens))) => {
                used(tokens.sum(kinds), *max_tokens, standing.passed, " tokens", count)
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

/// How much of a limit is used up. `passed`: the total when somebody last went on past the rule.
fn used(total: u64, limit: u64, passed: u64, unit: &str, shown: fn(u64) -> String) -> String {
    let part = format!("{} of {}{unit}", shown(total.saturating_sub(passed)), shown(limit));
    if passed == 0 { part } else { format!("{part} {SINCE_CONTINUE}, {} in all", shown(total)) }
}
