//! The trust that a repository's loop needs before it runs: all of it, because it starts agents unattended.

use super::{AgentChoice, Loop};
use crate::workflow::{clear_texts, gate_to_trust, rule_to_trust, without_newer_defaults};

impl Loop {
    /// Parts that start programs, contact other machines or approve calls, one line each.
    pub fn parts_to_trust(&self) -> Vec<String> {
        let agents = self.hats.iter().filter_map(|hat| Some((Some(hat.id.as_str()), hat.agent.as_ref()?)));
        let agents = [(None, &self.agent)].into_iter().chain(agents).map(|(hat, agent)| {
            let owner = hat.map_or_else(String::new, |hat| format!(" of {hat}"));
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

    /// The text that a person trusts, without text for agents, which may be reworded freely.
    pub fn text_to_trust(&self) -> String {
        let mut bare = self.clone();
        bare.hats.iter_mut().flat_map(|hat| &mut hat.rules).for_each(clear_texts);
        bare.text_to_trust_with_reasons()
    }

    /// The text that people trusted before reasons of rules were left out of it.
    pub fn text_to_trust_with_reasons(&self) -> String {
        let mut bare = Self { digest: String::new(), guardrails: Vec::new(), ..self.clone() };
        for topic in bare.topics.values_mut() {
            topic.on_trigger.clear();
            topic.on_publish.clear();
        }
        for hat in &mut bare.hats {
            hat.name.clear();
            hat.description.clear();
            hat.instructions.clear();
        }
        serde_json::to_string(&bare).map_or_else(|_| self.digest.clone(), |text| without_newer_defaults(&text))
    }
}
