//! What of a repository's workflow counts only once a person has accepted it.

use std::collections::BTreeMap;

use super::{Gate, Webhook, Workflow};
use crate::rules::{Rule, Tier};
use crate::verdict::Level;

impl Workflow {
    /// The parts that start a program, talk to another machine or approve calls, a line each; none where it is not a
    /// project's.
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
        let mut rules: Vec<String> = self.all_rules().filter_map(of_rule).collect();
        rules.sort();
        rules.dedup();
        observers.chain(gates).chain(rules).collect()
    }

    /// All that a person accepts with them, as one text; empty: nothing. What a line says depends on more of the workflow
    /// than itself (a `when` names variables), so that is all of it, and the rules that it took from elsewhere; but what is
    /// only said to agents may be put in other words.
    pub fn text_to_trust(&self) -> String {
        if self.parts_to_trust().is_empty() {
            return String::new();
        }
        let mut bare = Self { digest: String::new(), guides: BTreeMap::new(), ..self.clone() };
        for node in &mut bare.nodes {
            node.prompt.clear();
        }
        serde_json::to_string(&bare).map_or_else(|_| self.digest.clone(), |text| without_newer_defaults(&text))
    }

    /// The same without the rules and observers that wait for a person's yes. (Gates stay: one that is not trusted does not
    /// hold.)
    #[must_use]
    pub fn without_untrusted(mut self) -> Self {
        if self.tier != Tier::Project {
            return self;
        }
        self.observers.retain(|observer| observer.text_to_trust().is_none());
        self.rules.retain(|rule| of_rule(rule).is_none());
        for node in &mut self.nodes {
            node.rules.retain(|rule| of_rule(rule).is_none());
        }
        self
    }

    fn all_rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(self.nodes.iter().flat_map(|node| &node.rules))
    }

    fn requirements(&self) -> impl Iterator<Item = &super::Requirement> {
        self.nodes
            .iter()
            .flat_map(|node| node.requires.iter().chain(node.transitions.iter().flat_map(|way| &way.requires)))
    }
}

/// The text without keys that were added after people had trusted such texts, where a key has the value that it always had.
/// (Within a string the quotes would be escaped.)
pub(crate) fn without_newer_defaults(text: &str) -> String {
    text.replace(r#","protect":true"#, "")
}

pub(crate) fn of_gate(id: &str, gate: &Gate) -> Option<String> {
    match gate {
        Gate::Command { text, .. } => Some(format!("gate {id}: runs {text}")),
        Gate::Webhook(webhook) => {
            // Which variables leave the machine is what a person has to know.
            let sent: Vec<&str> =
                webhook.headers.iter().filter_map(|(_, value)| value.strip_prefix(Webhook::FROM_ENVIRONMENT)).collect();
            let sent = if sent.is_empty() { String::new() } else { format!(", and sends it {}", sent.join(", ")) };
            Some(format!("gate {id}: asks {}{sent}", webhook.url))
        }
        Gate::Expression(_) | Gate::Approval(_) | Gate::FileRules(_) => None,
    }
}

/// The user's own and bundled rules need no acceptance.
pub(crate) fn of_rule(rule: &Rule) -> Option<String> {
    let id = &rule.id;
    match rule {
        _ if rule.tier != Tier::Local && rule.tier != Tier::Project => None,
        _ if rule.action == Level::Allow => Some(format!("rule {id}: approves calls without asking")),
        _ if rule.runs_a_command() => Some(format!("rule {id}: runs a command")),
        _ => None,
    }
}
