//! The parts of a repository's workflow that need a person's trust.

use std::collections::BTreeMap;

use super::{Gate, Webhook, Workflow};
use crate::rules::{Rule, Tier};
use crate::verdict::Level;

impl Workflow {
    /// Parts that start a program, contact another machine or approve calls, one line each. Empty if the workflow does
    /// not come from a project.
    pub fn parts_to_trust(&self) -> Vec<String> {
        if self.tier != Tier::Project {
            return Vec::new();
        }
        let observers = self.observers.iter().filter_map(crate::observers::Observer::text_to_trust);
        let gates = self.gates.iter().map(|(name, gate)| (name.as_str(), gate));
        let gates = gates.chain(self.requirements().map(|required| (required.id.as_str(), &required.gate)));
        let mut gates: Vec<String> = gates.filter_map(|(id, gate)| gate_to_trust(id, gate)).collect();
        // A declared gate occurs in every place that requires it.
        gates.sort();
        gates.dedup();
        let mut rules: Vec<String> = self.all_rules().filter_map(rule_to_trust).collect();
        rules.sort();
        rules.dedup();
        observers.chain(gates).chain(rules).collect()
    }

    /// The text that a person trusts, empty if there are no such parts. The effect of a part can depend on the rest of
    /// the workflow (a condition names variables), so the text is the entire workflow including rules from libraries,
    /// but without text for agents, which may be reworded freely.
    pub fn text_to_trust(&self) -> String {
        if self.parts_to_trust().is_empty() {
            return String::new();
        }
        let mut bare = self.clone();
        bare.rules.iter_mut().for_each(clear_texts);
        bare.nodes.iter_mut().flat_map(|node| &mut node.rules).for_each(clear_texts);
        bare.text_to_trust_with_reasons()
    }

    /// The text that people trusted before reasons of rules were left out of it.
    pub fn text_to_trust_with_reasons(&self) -> String {
        if self.parts_to_trust().is_empty() {
            return String::new();
        }
        let mut bare = Self { digest: String::new(), guides: BTreeMap::new(), ..self.clone() };
        for node in &mut bare.nodes {
            node.prompt.clear();
        }
        serde_json::to_string(&bare).map_or_else(|_| self.digest.clone(), |text| without_newer_defaults(&text))
    }

    /// Removes rules and observers that need trust. (Gates stay, because an untrusted gate never opens.)
    #[must_use]
    pub fn without_untrusted(mut self) -> Self {
        if self.tier != Tier::Project {
            return self;
        }
        self.observers.retain(|observer| observer.text_to_trust().is_none());
        self.rules.retain(|rule| rule_to_trust(rule).is_none());
        for node in &mut self.nodes {
            node.rules.retain(|rule| rule_to_trust(rule).is_none());
        }
        self
    }

    fn all_rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(self.nodes.iter().flat_map(|node| &node.rules))
    }

    fn requirements(&self) -> impl Iterator<Item = &super::Requirement> {
        self.nodes.iter().flat_map(|node| {
            node.requires.iter().chain(node.transitions.iter().flat_map(|transition| &transition.requires))
        })
    }
}

/// Clears what does not change the rule's verdict. The digest depends on the texts.
pub(crate) fn clear_texts(rule: &mut Rule) {
    rule.title = None;
    rule.description = None;
    rule.digest.clear();
    rule.reason.clear();
}

/// Removes keys that later versions added, if they have the default, so that trust in older texts stays valid. (Quotes
/// inside strings are escaped and never match.)
pub(crate) fn without_newer_defaults(text: &str) -> String {
    text.replace(r#","protect":true"#, "")
}

pub(crate) fn gate_to_trust(id: &str, gate: &Gate) -> Option<String> {
    match gate {
        Gate::Command { text, .. } => Some(format!("gate {id}: runs {text}")),
        Gate::Webhook(webhook) => {
            // A person must know which environment variables leave the machine.
            let sent: Vec<&str> =
                webhook.headers.iter().filter_map(|(_, value)| value.strip_prefix(Webhook::FROM_ENVIRONMENT)).collect();
            let sent = if sent.is_empty() { String::new() } else { format!(", and sends it {}", sent.join(", ")) };
            Some(format!("gate {id}: asks {}{sent}", webhook.url))
        }
        Gate::Expression(_) | Gate::Approval(_) | Gate::FileRules(_) => None,
    }
}

/// The user's own rules and bundled rules need no trust.
pub(crate) fn rule_to_trust(rule: &Rule) -> Option<String> {
    let id = &rule.id;
    match rule {
        _ if rule.tier != Tier::Local && rule.tier != Tier::Project => None,
        _ if rule.action == Level::Allow => Some(format!("rule {id}: approves calls without asking")),
        _ if rule.runs_command() => Some(format!("rule {id}: runs a command")),
        _ => None,
    }
}
