use std::collections::BTreeMap;

use super::{Activity, PaceLimit, PaceState, Phase, Tally, Tokens};
use crate::bounded_regex::RegexError;

/// All that happened in a phase, as a case tells it. (Of a phase that lasts, only what rules count is kept.)
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// With when, in milliseconds; in order.
    pub happenings: Vec<(i64, Activity)>,
    /// By message: the last figure of each counts.
    pub tokens: BTreeMap<String, Tokens>,
}

impl History {
    /// How a phase in which this happened stands with a limit.
    pub fn standing(&self, limit: &PaceLimit, phase: Phase) -> Result<PaceState, RegexError> {
        let mut since = phase.started;
        let tally = match limit {
            PaceLimit::RepeatedCommand { window, .. } | PaceLimit::RepeatedFileEdit { window, .. } => {
                since = phase.window_start(*window, None);
                let within = self.happenings.iter().filter(|(time, _)| (since..=phase.now).contains(time));
                let mut attempts = Vec::new();
                for (time, happening) in within {
                    attempts.extend(happening.counted(limit, *time)?);
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
        Ok(PaceState { phase, tally, since, is_told: false, refusals: 0, is_closed: false, passed: 0 })
    }
}
