//! What rules did at an event or a move, for whoever asks how often.

use engine::{Level, Verdict};
use store::{Deed, PhaseName, RuleDeed};

use crate::failure::GUARD;

/// What the rules that spoke did. `phase`: the current one, if a workflow is active.
pub fn of_verdict(verdict: &Verdict, phase: impl FnOnce() -> Option<PhaseName>) -> Vec<RuleDeed> {
    // Where nothing was said, nobody looks where the workflow stands.
    let spoken = verdict.findings.iter().filter(|finding| finding.rule != GUARD);
    let mut spoken = spoken.peekable();
    let phase = spoken.peek().and_then(|_| phase());
    let deed = |level: Level| match level {
        Level::Warn => Deed::Warned,
        Level::Block if verdict.not_enforced.is_none() => Deed::Blocked,
        Level::Allow | Level::Ask | Level::Block => Deed::Spoke,
    };
    spoken
        .map(|finding| RuleDeed { rule: finding.rule.clone(), phase: phase.clone(), deed: deed(finding.level) })
        .collect()
}

/// The same was done about several rules.
pub fn about<'r>(
    rules: impl Iterator<Item = &'r str>,
    deed: Deed,
    phase: Option<PhaseName>,
) -> impl Iterator<Item = RuleDeed> {
    rules.map(move |rule| RuleDeed { rule: rule.to_owned(), phase: phase.clone(), deed })
}
