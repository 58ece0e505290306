//! The parts of a loop that a person must trust before the loop runs. Every loop of a repository needs trust, because a
//! loop starts agents while no person watches.

use super::{AgentChoice, Loop};
use crate::workflow::{clear_texts, gate_to_trust, rule_to_trust, without_newer_defaults};

impl Loop {
    /// Returns one line for each part that starts a program, contacts another machine or approves calls.
    pub fn parts_to_trust(&self) -> Vec<String> {
        let agents = self.hats.iter().filter_map(|hat| Some((Some(hat.id.as_str()), hat.agent.as_ref()?)));
        let agents = [(None, &self.agent)].into_iter().chain(agents).map(|(hat, agent)| {
            let owner = hat.map_or_else(String::new, |hat| format!(" of hat `{hat}`"));
            match agent {
                AgentChoice::Named(name) => format!("agent{owner}: starts {name}, unattended"),
                AgentChoice::Command { words, .. } => format!("agent{owner}: starts {}", words.join(" ")),
            }
        });
        let mut parts: Vec<String> = agents.collect();
        let required = self.topics.values().flat_map(|topic| &topic.requires);
        let required = required.chain(&self.completion.requires).chain(&self.close_requires);
        let gates = self.gates.iter().map(|(name, gate)| (name.as_str(), gate));
        let gates = gates.chain(required.map(|required| (required.id.as_str(), &required.gate)));
        let mut others: Vec<String> = gates.filter_map(|(id, gate)| gate_to_trust(id, gate)).collect();
        others.extend(
            self.hats.iter().flat_map(|hat| &hat.observers).filter_map(crate::observers::Observer::text_to_trust),
        );
        others.extend(self.hats.iter().flat_map(|hat| &hat.rules).filter_map(rule_to_trust));
        others.sort();
        others.dedup();
        parts.extend(others);
        parts
    }

    /// Returns the text that a person trusts: the loop without texts for agents, so that a change of such a text needs
    /// no new trust.
    pub fn text_to_trust(&self) -> String {
        let mut trusted = self.clone();
        trusted.hats.iter_mut().flat_map(|hat| &mut hat.rules).for_each(clear_texts);
        trusted.text_to_trust_with_reasons()
    }

    /// Returns the text that people trusted in earlier versions of Linchpin. This text also contains the reasons of
    /// rules.
    pub fn text_to_trust_with_reasons(&self) -> String {
        let mut trusted = Self { digest: String::new(), guardrails: Vec::new(), ..self.clone() };
        for topic in trusted.topics.values_mut() {
            topic.on_trigger.clear();
            topic.on_publish.clear();
        }
        for hat in &mut trusted.hats {
            hat.name.clear();
            hat.description.clear();
            hat.instructions.clear();
        }
        serde_json::to_string(&trusted).map_or_else(|_| self.digest.clone(), |text| without_newer_defaults(&text))
    }
}
