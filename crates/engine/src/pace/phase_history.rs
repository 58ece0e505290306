use std::collections::BTreeMap;

use super::{Activity, PaceLimit, PaceState, Phase, Tally, Tokens};
use crate::bounded_regex::RegexError;

/// The activities and tokens of a phase, as a test case of a policy describes them. For a phase of a real session,
/// Linchpin stores only the attempts that rules count.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PhaseHistory {
    /// The activities with their times in milliseconds since 1970, the oldest first.
    pub activities: Vec<(i64, Activity)>,
    /// The tokens by message id. If a message occurs again, its later numbers replace the earlier numbers.
    pub tokens: BTreeMap<String, Tokens>,
}

impl PhaseHistory {
    /// The state of a limit after this history.
    pub fn state(&self, limit: &PaceLimit, phase: Phase) -> Result<PaceState, RegexError> {
        let mut window_start = phase.started;
        let tally = match limit {
            PaceLimit::RepeatedCommand { window, .. } | PaceLimit::RepeatedFileEdit { window, .. } => {
                window_start = phase.window_start(*window, None);
                let within = self.activities.iter().filter(|(time, _)| (window_start..=phase.now).contains(time));
                let mut attempts = Vec::new();
                for (time, activity) in within {
                    attempts.extend(activity.attempts(limit, *time)?);
                }
                Tally::of_attempts(attempts)
            }
            PaceLimit::PhaseTimeout { .. } => Tally::Time,
            PaceLimit::TokenBudget { .. } => {
                let mut sum = Tokens::default();
                self.tokens.values().for_each(|tokens| sum += *tokens);
                Tally::Tokens(Some(sum))
            }
            PaceLimit::RequireCommits { .. } => Tally::Commits { count: None, phases: Vec::new() },
        };
        Ok(PaceState {
            phase,
            tally,
            window_start,
            was_interrupted: false,
            refusals: 0,
            is_blocking: false,
            continued_from: 0,
        })
    }
}
