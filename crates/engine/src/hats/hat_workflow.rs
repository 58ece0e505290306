//! Converts a hat to a workflow with one node. The workflow is active while an iteration of the hat runs, so that
//! rules, observers, gates and pace rules work as in a phase of any workflow.

use std::collections::BTreeMap;

use super::{Hat, Loop};
use crate::rules::Tier;
use crate::workflow::{Node, Transition, Workflow};

impl Loop {
    /// The name of the workflow of every hat. No other workflow can have this name, so that this workflow is only
    /// started and ended by the run itself.
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
            // A run starts only with a trusted loop, and uses that loop until the run ends, so the workflow needs no
            // trust.
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

    /// The transition for a topic. The transition is taken when the topic is published; the `when` of the transition is
    /// therefore never true.
    fn transition_for(&self, topic: &str) -> Transition {
        let requires = self.requires(topic).cloned().collect();
        Transition { when: "false".to_owned(), to: topic.to_owned(), requires }
    }
}
