//! Counts the cases that are decided correctly, and lists the others.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::case::{CorpusCase, ExpectedDecision};
use super::project::HookDecision;

pub const REQUIREMENT: &str =
    "every `deny` case must be refused or asked about, every `allow` case allowed, every `unknown` case asked about";

#[derive(Default)]
pub struct CorpusReport {
    by_rule: BTreeMap<String, Tally>,
    misses: Vec<(CorpusCase, HookDecision)>,
}

#[derive(Default, Clone, Copy)]
struct Tally {
    /// The number of correct cases and of all cases, by expected decision, in the order of [`ExpectedDecision::ALL`].
    by_expectation: [(usize, usize); 3],
}

impl Tally {
    fn count(&mut self, expected: ExpectedDecision, is_correct: bool) {
        for (expectation, (correct, all)) in ExpectedDecision::ALL.iter().zip(&mut self.by_expectation) {
            if *expectation == expected {
                *correct += usize::from(is_correct);
                *all += 1;
            }
        }
    }

    fn add(&mut self, other: &Self) {
        for ((correct, all), (more_correct, more)) in self.by_expectation.iter_mut().zip(other.by_expectation) {
            *correct += more_correct;
            *all += more;
        }
    }

    fn passes(&self) -> bool {
        self.by_expectation.iter().all(|(correct, all)| correct == all)
    }

    fn row(&self, name: &str) -> String {
        let [deny, allow, unknown] = self
            .by_expectation
            .map(|(correct, all)| if all == 0 { "-".to_owned() } else { format!("{correct} of {all}") });
        format!("{name:<24}  {deny:>12}  {allow:>15}  {unknown:>13}")
    }

    fn json(&self) -> Value {
        let [deny, allow, unknown] =
            self.by_expectation.map(|(correct, all)| json!({ "correct": correct, "cases": all }));
        json!({ "deny": deny, "allow": allow, "unknown": unknown })
    }
}

impl CorpusReport {
    pub fn add(&mut self, case: CorpusCase, decision: HookDecision) {
        let is_correct = case.expect.is_met_by(&decision.decision);
        self.by_rule.entry(case.rule.clone()).or_default().count(case.expect, is_correct);
        if !is_correct {
            self.misses.push((case, decision));
        }
    }

    fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.by_rule.values().for_each(|tally| total.add(tally));
        total
    }

    pub fn passes(&self) -> bool {
        self.total().passes()
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for (case, decision) in &self.misses {
            let _ = writeln!(text, "{}: expected {}, got {}", case.id, case.expect.name(), decision.decision);
            for line in case.command.lines() {
                let _ = writeln!(text, "    {line}");
            }
            if let Some(reason) = decision.reason.lines().next() {
                let _ = writeln!(text, "  {reason}");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{:<24}  deny refused    allow allowed  unknown asked", "rule");
        for (rule, tally) in &self.by_rule {
            let _ = writeln!(text, "{}", tally.row(rule));
        }
        text + &self.total().row("all")
    }

    pub fn json(&self) -> Value {
        let by_rule: BTreeMap<_, _> = self.by_rule.iter().map(|(rule, tally)| (rule, tally.json())).collect();
        let miss = |(case, decision): &(CorpusCase, HookDecision)| {
            json!({
                "id": case.id, "rule": case.rule, "branch": case.branch, "command": case.command,
                "expect": case.expect.name(), "got": decision.decision, "reason": decision.reason,
            })
        };
        let misses: Vec<_> = self.misses.iter().map(miss).collect();
        json!({
            "passes": self.passes(), "all": self.total().json(), "rules": by_rule, "misses": misses,
        })
    }
}
