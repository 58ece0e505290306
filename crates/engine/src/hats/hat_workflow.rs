//! A hat that is on, as a workflow with one node: what holds in a phase holds in an iteration, so rules, observers, gates and
//! what pace rules count need no second way.

use std::collections::BTreeMap;

use super::{Hat, Loop};
use crate::rules::Tier;
use crate::workflow::{Node, Transition, Workflow};

impl Loop {
    /// The name of that workflow. No file's is called so, because what is active there is the run's alone.
    pub const NAME: &str = "loop";

    pub fn stage(&self, hat: &Hat) -> Workflow {
        let node = Node {
            name: hat.id.clone(),
            prompt: String::new(),
            rules: hat.rules.clone(),
            requires: Vec::new(),
            on_enter: Vec::new(),
            on_exit: Vec::new(),
            transitions: hat.publishes.iter().map(|topic| self.way(topic)).collect(),
        };
        Workflow {
            name: Self::NAME.to_owned(),
            // A run begins only with a loop that a person accepted, and keeps to what it began with.
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

    /// A topic leads out of a hat. It is taken by being published, never by a condition.
    fn way(&self, topic: &str) -> Transition {
        let requires = self.requires(topic).cloned().collect();
        Transition { when: "false".to_owned(), to: topic.to_owned(), requires }
    }
}
