//! The parts of a repository's workflow that need a person's trust.

use std::collections::BTreeMap;

use super::{Gate, Webhook, Workflow};
use crate::rules::{Rule, Tier};
use crate::verdict::Level;

impl Workflow {
    /// Returns one line for each part that starts a program, contacts another machine or approves calls. Empty if the
    /// workflow does not come from a project.
    pub fn parts_to_trust(&self) -> Vec<String> {
        if self.tier != Tier::Project {
            return Vec::new();
        }
        let observers = self.observers.iter().filter_map(crate::observers::Observer::text_to_trust);
        let gates = self.gates.iter().map(|(name, gate)| (name.as_str(), gate));
        let gates = gates.chain(self.requirements().map(|required| (required.id.as_str(), &required.gate)));
        let mut gates: Vec<String> = gates.filter_map(|(id, gate)| gate_to_trust(id, gate)).collect();
        // A gate under `gates` also occurs in every `requires` list that names the gate, so duplicates are removed.
        gates.sort();
        gates.dedup();
        let mut rules: Vec<String> = self.all_rules().filter_map(rule_to_trust).collect();
        rules.sort();
        rules.dedup();
        observers.chain(gates).chain(rules).collect()
    }

    /// Returns the text that a person trusts; empty if no part needs trust. The effect of a part can depend on the rest
    /// of the workflow, so the text is the entire workflow, including the rules that come from rule libraries. The text
    /// to trust does not contain texts for agents, so that a change of such a text needs no new trust.
    pub fn text_to_trust(&self) -> String {
        if self.parts_to_trust().is_empty() {
            return String::new();
        }
        let mut trusted = self.clone();
        trusted.rules.iter_mut().for_each(clear_texts);
        trusted.nodes.iter_mut().flat_map(|node| &mut node.rules).for_each(clear_texts);
        trusted.text_to_trust_with_reasons()
    }

    /// Returns the text that people trusted in earlier versions of Linchpin. This text also contains the reasons of
    /// rules.
    pub fn text_to_trust_with_reasons(&self) -> String {
        if self.parts_to_trust().is_empty() {
            return String::new();
        }
        let mut trusted = Self { digest: String::new(), guides: BTreeMap::new(), ..self.clone() };
        for node in &mut trusted.nodes {
            node.prompt.clear();
        }
        serde_json::to_string(&trusted).map_or_else(|_| self.digest.clone(), |text| without_newer_defaults(&text))
    }

    /// Returns the workflow without the rules and observers that need trust. The gates of the workflow stay, because a
    /// gate that is not trusted never opens.
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

/// Clears the texts of a rule, which have no effect on verdicts, and the digest, which depends on the texts.
pub(crate) fn clear_texts(rule: &mut Rule) {
    rule.title = None;
    rule.description = None;
    rule.digest.clear();
    rule.reason.clear();
}

/// Removes keys with default values that earlier versions did not have, so that trust in older texts stays valid.
/// Quotes inside of strings are escaped, so the search finds only keys.
pub(crate) fn without_newer_defaults(text: &str) -> String {
    text.replace(r#","protect":true"#, "")
}

/// Describes a gate that needs trust; `None` for other gates.
pub(crate) fn gate_to_trust(id: &str, gate: &Gate) -> Option<String> {
    match gate {
        Gate::Command { text, .. } => Some(format!("gate `{id}`: runs `{text}`")),
        Gate::Webhook(webhook) => {
            // A person must know which environment variables are sent to the server.
            let sent: Vec<&str> =
                webhook.headers.iter().filter_map(|(_, value)| value.strip_prefix(Webhook::FROM_ENVIRONMENT)).collect();
            let sent = if sent.is_empty() { String::new() } else { format!(", and sends it {}", sent.join(", ")) };
            Some(format!("gate `{id}`: asks {}{sent}", webhook.url))
        }
        Gate::Expression(_) | Gate::Approval(_) | Gate::FileRules(_) => None,
    }
}

/// Describes a rule that needs trust; `None` for other rules, such as bundled rules and the user's own rules.
pub(crate) fn rule_to_trust(rule: &Rule) -> Option<String> {
    let id = &rule.id;
    match rule {
        _ if rule.tier != Tier::Local && rule.tier != Tier::Project => None,
        _ if rule.action == Level::Allow => Some(format!("rule `{id}`: approves calls without asking")),
        _ if rule.runs_command() => Some(format!("rule `{id}`: runs a command")),
        _ => None,
    }
}
