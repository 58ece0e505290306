//! Checks a gate of file rules. The rules are judged as at a stop, with these differences: the gate refuses any number
//! of times; a rule with `action: warn` blocks too; a rule that cannot be judged fails the gate; and in a run of a
//! loop, changes can be compared with the tree from before the hat was activated.

use engine::event::{EventKind, EventKinds};
use engine::facts::FactStore;
use engine::file_rules::Baseline;
use engine::rules::{Detector, Rule, RuleSet};
use engine::{Decision, DecisionRequest, Level};

use super::{FailedGate, GateChecker};
use crate::workflow::condition::{NO_SESSION, NO_SESSION_IN_RUN};

impl GateChecker<'_> {
    /// Returns the gate as a [`FailedGate`] if one of its rules is unmet or cannot be judged.
    pub(super) fn check_file_rules(&self, gate: &str, rules: &[Rule]) -> Option<FailedGate> {
        let rules: Vec<Rule> = rules.iter().map(|rule| self.adapted_for_gate(rule)).collect();
        let is_judgeable = |rule: &&Rule| {
            rule.as_file_rule().is_none_or(|file| matches!(self.situation.facts.changes(file.scope), Ok(Some(_))))
        };
        if let Some(rule) = rules.iter().find(|rule| !is_judgeable(rule)) {
            // At a stop, a rule that cannot be judged is skipped. A gate with such a rule must not pass.
            let why = format!(
                "`{}` cannot be judged, because git cannot list what changed: `linchpin check` shows why",
                rule.id
            );
            return Some(FailedGate::new(gate, why));
        }
        let decision = RuleSet::pack(&rules).and_then(|rules| {
            engine::decide(&DecisionRequest { situation: self.situation, rules: &rules, evaluate_all: false })
        });
        match decision {
            Ok(decision) => self.failed_gate(gate, &decision),
            Err(error) => Some(FailedGate::new(gate, error.to_string())),
        }
    }

    /// The rule, changed so that a gate can judge it.
    fn adapted_for_gate(&self, rule: &Rule) -> Rule {
        let on = EventKinds::default().with(EventKind::Other);
        let mut rule = Rule { on, action: Level::Block, max_holds: Some(u32::MAX), ..rule.clone() };
        if let (true, Detector::Files(files)) = (self.compares_with_activation, &mut rule.detect) {
            files.scope.compare_to = Baseline::Prompt;
        }
        rule
    }

    /// The gate as a [`FailedGate`] if the decision has a finding or a skipped rule.
    fn failed_gate(&self, gate: &str, decision: &Decision) -> Option<FailedGate> {
        if let Some(skipped) = decision.skipped.first() {
            let why = format!("`{}` cannot be judged: {}", skipped.rule, self.why_skipped(skipped.unavailable));
            return Some(FailedGate::new(gate, why));
        }
        let findings = &decision.verdict.findings;
        if findings.is_empty() {
            return None;
        }
        let unmet = findings.iter().map(|finding| finding.reason.clone());
        let names: Vec<String> = findings.iter().map(|finding| format!("`{}`", finding.rule)).collect();
        let name = if let [only] = findings.as_slice() { only.rule.as_str() } else { "NAME" };
        let answer = format!("If {} does not apply, run `linchpin ack {name} --reason \"…\"`.", names.join(" or "));
        let why = unmet.chain([answer]).collect::<Vec<_>>().join("\n\n");
        let rules = findings.iter().map(|finding| finding.rule.clone()).collect();
        Some(FailedGate { rules, ..FailedGate::new(gate, why) })
    }

    /// The reason why a rule was skipped.
    fn why_skipped(&self, unavailable: FactStore) -> &'static str {
        match unavailable {
            FactStore::Session if self.is_in_run => NO_SESSION_IN_RUN,
            FactStore::Session => NO_SESSION,
            FactStore::Journal => "the journal cannot be read; `linchpin doctor` shows why",
            FactStore::Work => "the tasks of the project cannot be read; `linchpin doctor` shows why",
            FactStore::Queue => "its demand cannot be written to the queue; `linchpin doctor` shows why",
        }
    }
}
