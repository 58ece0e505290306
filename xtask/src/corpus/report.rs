//! Counts the cases with the right decision, and lists the others.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::case::{CorpusCase, ExpectedDecision};
use super::project::HookDecision;

pub const BAR: &str = "all of `deny` are to be stopped, all of `allow` left alone and all of `unknown` asked about";

#[derive(Default)]
pub struct CorpusReport {
    policies: BTreeMap<String, Tally>,
    misses: Vec<(CorpusCase, HookDecision)>,
}

/// The number of right cases and of all cases, by expected decision, in the order of [`ExpectedDecision::ALL`].
#[derive(Default, Clone, Copy)]
struct Tally {
    by_expectation: [(usize, usize); 3],
}

impl Tally {
    fn count(&mut self, expected: ExpectedDecision, met: bool) {
        for (expectation, (held, all)) in ExpectedDecision::ALL.iter().zip(&mut self.by_expectation) {
            if *expectation == expected {
                *held += usize::from(met);
                *all += 1;
            }
        }
    }

    fn add(&mut self, other: &Self) {
        for ((held, all), (more_held, more)) in self.by_expectation.iter_mut().zip(other.by_expectation) {
            *held += more_held;
            *all += more;
        }
    }

    fn is_within_the_bar(&self) -> bool {
        self.by_expectation.iter().all(|(held, all)| held == all)
    }

    fn row(&self, name: &str) -> String {
        let [deny, allow, unknown] =
            self.by_expectation.map(|(held, all)| if all == 0 { "-".to_owned() } else { format!("{held} of {all}") });
        format!("{name:<24}  {deny:>12}  {allow:>15}  {unknown:>13}")
    }

    fn json(&self) -> Value {
        let [deny, allow, unknown] = self.by_expectation.map(|(held, all)| json!({ "held": held, "cases": all }));
        json!({ "deny": deny, "allow": allow, "unknown": unknown })
    }
}

impl CorpusReport {
    pub fn add(&mut self, case: CorpusCase, verdict: HookDecision) {
        let met = case.expect.is_met_by(&verdict.decision);
        self.policies.entry(case.policy.clone()).or_default().count(case.expect, met);
        if !met {
            self.misses.push((case, verdict));
        }
    }

    fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.policies.values().for_each(|tally| total.add(tally));
        total
    }

    pub fn is_within_the_bar(&self) -> bool {
        self.total().is_within_the_bar()
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for (case, verdict) in &self.misses {
            let _ = writeln!(text, "{}: expected {}, got {}", case.id, case.expect.name(), verdict.decision);
            for line in case.command.lines() {
                let _ = writeln!(text, "    {line}");
            }
            if let Some(reason) = verdict.reason.lines().next() {
                let _ = writeln!(text, "  {reason}");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{:<24}  deny stopped  allow untouched  unknown asked", "policy");
        for (policy, tally) in &self.policies {
            let _ = writeln!(text, "{}", tally.row(policy));
        }
        text + &self.total().row("all")
    }

    pub fn json(&self) -> Value {
        let policies: BTreeMap<_, _> = self.policies.iter().map(|(policy, tally)| (policy, tally.json())).collect();
        let miss = |(case, verdict): &(CorpusCase, HookDecision)| {
            json!({
                "id": case.id, "policy": case.policy, "branch": case.branch, "command": case.command,
                "expect": case.expect.name(), "got": verdict.decision, "reason": verdict.reason,
            })
        };
        let misses: Vec<_> = self.misses.iter().map(miss).collect();
        json!({
            "within_bar": self.is_within_the_bar(), "all": self.total().json(), "policies": policies, "misses": misses,
        })
    }
}
