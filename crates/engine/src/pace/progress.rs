//! How near a phase is to a limit.

use super::measure::{count, duration};
use super::{Limit, PaceRule, Standing, Tally};

impl PaceRule {
    /// How much of what is too much there is, in a few words.
    pub fn progress(&self, standing: &Standing) -> String {
        match (&self.limit, &standing.tally) {
            (
                Limit::RepeatedCommand { threshold, window, .. } | Limit::RepeatedFileEdit { threshold, window, .. },
                Tally::Attempts(attempts),
            ) => {
                let what = self.limit.repeated().unwrap_or_default();
                format!("{} of {threshold} {what} in {}", attempts.len(), duration(*window))
            }
            (Limit::PhaseTimeout { max_duration }, _) => {
                let elapsed = u64::try_from(standing.phase.elapsed() / 1000).unwrap_or(0);
                format!("{} of {}", duration(elapsed), duration(max_duration.saturating_add(standing.passed)))
            }
            (Limit::TokenBudget { max_tokens, count: kinds }, Tally::Tokens(Some(tokens))) => {
                format!("{} of {} tokens", count(tokens.sum(kinds)), count(max_tokens.saturating_add(standing.passed)))
            }
            (Limit::TokenBudget { .. }, _) => "tokens: unknown".to_owned(),
            (Limit::RequireCommits { .. }, Tally::Commits { count: Some(0), .. }) => {
                "no commit, and one is needed".to_owned()
            }
            (Limit::RequireCommits { .. }, Tally::Commits { count: Some(1), .. }) => "1 commit".to_owned(),
            (Limit::RequireCommits { .. }, Tally::Commits { count: Some(number), .. }) => format!("{number} commits"),
            (Limit::RequireCommits { .. }, _) => "commits: unknown".to_owned(),
            _ => "unknown".to_owned(),
        }
    }
}
