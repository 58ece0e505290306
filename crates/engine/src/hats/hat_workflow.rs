//! Converts an active hat to a workflow with one node, so that rules, observers, gates and pace rules work in an
//! iteration as in a phase.

use std::collections::BTreeMap;

use super::{Hat, Loop};
use crate::rules::Tier;
use crate::workflow::{Node, Transition, Workflow};

impl Loop {
    /// The name of the workflow of every hat. It is reserved, because the active workflow of a run belongs to the run
    /// alone.
    pub const NAME: &str = "loop";

    pub fn workflow_for(&self, hat: &Hat) -> Workflow {
        let node = Node {
            name: hat.id.clone(),
            prompt: String::new(),
            rules: hat.rules.clone(),
            requires: Vec::new(),
            on_enter: Vec::new(),
            on_exit: Vec::new(),
            transitions: hat.publishes.iter().map(|topic| self.transition_for(topic)).collect(),
        };
        Workflow {
            name: Self::NAME.to_owned(),
            // A run starts only with a trusted loop and keeps using it, so the workflow needs no trust of its own.
            tier: Tier::User,
            source: self.source.clone(),
            digest: self.digest.clone(),
            start: hat.id.clone(),
            variables: self.variables.clone(),
            claims: Vec::new(),
            rules: Vec::new(),
            observers: hat.observers.clone(),
            gates: self.gates.clone(),
            triggers: Vec::new(),
            nodes: vec![node],
            guides: BTreeMap::new(),
        }
    }

    /// The transition for a topic. It is taken by publishing the topic, never by a condition.
    fn transition_for(&self, topic: &str) -> Transition {
        let requires = self.requires(topic).cloned().collect();
        Transition { when: "false".to_owned(), to: topic.to_owned(), requires }
    }
}
