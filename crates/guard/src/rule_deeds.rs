//! What rules did at an event or a move, for whoever asks how often.

use engine::{Level, Verdict};
use store::{PhaseName, RecordedRuleOutcome, RuleOutcome};

use crate::failure::GUARD;

/// What the rules that spoke did. `phase`: the current one, if a workflow is active.
pub fn of_verdict(verdict: &Verdict, phase: impl FnOnce() -> Option<PhaseName>) -> Vec<RecordedRuleOutcome> {
    // Where nothing was said, nobody looks where the workflow stands.
    let spoken = verdict.findings.iter().filter(|finding| finding.rule != GUARD);
    let mut spoken = spoken.peekable();
    let phase = spoken.peek().and_then(|_| phase());
    let outcome = |level: Level| match level {
        Level::Warn => RuleOutcome::Warned,
        Level::Block if verdict.not_enforced.is_none() => RuleOutcome::Blocked,
        Level::Allow | Level::Ask | Level::Block => RuleOutcome::Fired,
    };
    spoken
        .map(|finding| RecordedRuleOutcome {
            rule: finding.rule.clone(),
            phase: phase.clone(),
            outcome: outcome(finding.level),
        })
        .collect()
}

/// The same was done about several rules.
pub fn about<'r>(
    rules: impl Iterator<Item = &'r str>,
    outcome: RuleOutcome,
    phase: Option<PhaseName>,
) -> impl Iterator<Item = RecordedRuleOutcome> {
    rules.map(move |rule| RecordedRuleOutcome { rule: rule.to_owned(), phase: phase.clone(), outcome })
}
