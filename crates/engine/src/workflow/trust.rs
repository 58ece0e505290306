//! What of a repository's workflow counts only once a person has accepted it.

use super::{Gate, Workflow};
use crate::rules::{Rule, Tier};
use crate::verdict::Level;

impl Workflow {
    /// The parts that start a program, talk to another machine or approve calls, a line each; none where it is not a
    /// project's. What a line says depends on more of the file than itself (a `when` names variables), so what a person
    /// accepts is the whole file, by its digest.
    pub fn parts_to_trust(&self) -> Vec<String> {
        if self.tier != Tier::Project {
            return Vec::new();
        }
        let observers = self.observers.iter().filter_map(crate::observers::Observer::text_to_trust);
        let gates = self.gates.iter().map(|(name, gate)| (name.as_str(), gate));
        let gates = gates.chain(self.requirements().map(|required| (required.id.as_str(), &required.gate)));
        let mut gates: Vec<String> = gates.filter_map(|(id, gate)| of_gate(id, gate)).collect();
        // A gate that is declared stands in every place that names it.
        gates.sort();
        gates.dedup();
        let mut rules: Vec<String> =
            self.rules.iter().chain(self.nodes.iter().flat_map(|node| &node.rules)).filter_map(of_rule).collect();
        rules.sort();
        rules.dedup();
        observers.chain(gates).chain(rules).collect()
    }

    fn requirements(&self) -> impl Iterator<Item = &super::Requirement> {
        self.nodes
            .iter()
            .flat_map(|node| node.requires.iter().chain(node.transitions.iter().flat_map(|way| &way.requires)))
    }
}

fn of_gate(id: &str, gate: &Gate) -> Option<String> {
    match gate {
        Gate::Command { text, .. } => Some(format!("gate {id}: runs {text}")),
        Gate::Webhook(webhook) => Some(format!("gate {id}: asks {}", webhook.url)),
        Gate::Expression(_) | Gate::Approval(_) | Gate::FileRules(_) => None,
    }
}

/// The user's own and bundled rules need no acceptance.
fn of_rule(rule: &Rule) -> Option<String> {
    let id = &rule.id;
    match rule {
        _ if rule.tier != Tier::Local && rule.tier != Tier::Project => None,
        _ if rule.action == Level::Allow => Some(format!("rule {id}: approves calls without asking")),
        _ if rule.runs_a_command() => Some(format!("rule {id}: runs a command")),
        _ => None,
    }
}
