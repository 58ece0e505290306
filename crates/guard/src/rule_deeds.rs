//! What rules did at an event or a move, for whoever asks how often.

use engine::{Level, Verdict};
use store::{Deed, RuleDeed};

use crate::failure::GUARD;
use crate::workflow::Position;

/// What the rules that spoke did. `position`: where the workflow stands, if one is active.
pub fn of_verdict(verdict: &Verdict, position: impl FnOnce() -> Option<Position>) -> Vec<RuleDeed> {
    // Where nothing was said, nobody looks where the workflow stands.
    let spoken = verdict.findings.iter().filter(|finding| finding.rule != GUARD);
    let mut spoken = spoken.peekable();
    let phase = spoken.peek().and_then(|_| position()).map(|position| position.phase_named());
    let deed = |level: Level| match level {
        Level::Warn => Deed::Warned,
        Level::Block if verdict.lifted.is_none() => Deed::Blocked,
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
    position: Option<&Position>,
) -> impl Iterator<Item = RuleDeed> {
    rules.map(move |rule| RuleDeed { rule: rule.to_owned(), phase: position.map(Position::phase_named), deed })
}
