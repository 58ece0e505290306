//! The outcomes of rules that the journal counts.

use engine::{Level, Verdict};
use store::{CountedOutcome, PhaseName, RecordedRuleOutcome};

/// The outcomes of all rules that have a finding in the verdict. `phase` returns the current phase, if a workflow is
/// active.
pub fn of_verdict(verdict: &Verdict, phase: impl FnOnce() -> Option<PhaseName>) -> Vec<RecordedRuleOutcome> {
    // The phase is looked up only if there is a finding.
    let findings = verdict.findings.iter().filter(|finding| !finding.is_of_guard());
    let mut findings = findings.peekable();
    let phase = findings.peek().and_then(|_| phase());
    let outcome = |level: Level| match level {
        Level::Warn => CountedOutcome::Warned,
        Level::Block if verdict.is_enforced() => CountedOutcome::Blocked,
        Level::Allow | Level::Ask | Level::Block => CountedOutcome::Fired,
    };
    findings
        .map(|finding| RecordedRuleOutcome {
            rule: finding.rule.clone(),
            phase: phase.clone(),
            outcome: outcome(finding.level),
        })
        .collect()
}

/// The same outcome for each of these rules.
pub fn for_rules<'r>(
    rules: impl Iterator<Item = &'r str>,
    outcome: CountedOutcome,
    phase: Option<PhaseName>,
) -> impl Iterator<Item = RecordedRuleOutcome> {
    rules.map(move |rule| RecordedRuleOutcome { rule: rule.to_owned(), phase: phase.clone(), outcome })
}
