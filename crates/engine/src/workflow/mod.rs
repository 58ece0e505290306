//! Workflows: nodes, transitions and gates.
//!
//! Like a rule, a [`Workflow`] is plain data that another crate has read and checked: its expressions are valid, its
//! names are defined, and the workflow can be cached in compiled form. This module computes what depends only on the
//! file: the graph, its diagram, and the parts that a person has to trust. This module does not know at which node a
//! workflow is.

mod action;
pub mod diagram;
mod gate;
mod graph;
mod node;
mod trust;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use action::{ActionEffect, ActionKind, EventTrigger, WorkflowAction};
pub use gate::{ExpectedResponse, Gate, Requirement, Webhook};
pub use node::{Node, Transition};
pub(crate) use trust::{clear_texts, gate_to_trust, rule_to_trust, without_newer_defaults};

use crate::expr::{EvaluationError, OnMissing, template};
use crate::observers::Observer;
use crate::rules::{Rule, Tier};
use crate::situation::Situation;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workflow {
    pub name: String,
    pub tier: Tier,
    /// The file that the workflow was read from, as shown to people.
    pub source: String,
    /// The digest of the file.
    pub digest: String,
    /// The first node.
    pub start: String,
    /// The initial values of variables, as JSON text.
    pub variables: BTreeMap<String, String>,
    /// The declared claims. In addition to these claims, each node except the end nodes has a claim that the node's
    /// work is complete.
    pub claims: Vec<String>,
    /// The rules that apply at every node.
    pub rules: Vec<Rule>,
    pub observers: Vec<Observer>,
    pub gates: BTreeMap<String, Gate>,
    pub triggers: Vec<EventTrigger>,
    /// Nodes in the order of the file.
    pub nodes: Vec<Node>,
    /// The texts of all guides that a prompt of this workflow can include, by name.
    pub guides: BTreeMap<String, String>,
}

impl Workflow {
    /// The end node for work that is finished. A workflow at this node is no longer active.
    pub const DONE: &str = "done";
    /// The end node for work that was abandoned.
    pub const ABORTED: &str = "aborted";
    /// The end nodes. Every workflow has these nodes, whether or not the workflow declares them.
    pub const ENDS: [&str; 2] = [Self::DONE, Self::ABORTED];

    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    pub fn is_end(name: &str) -> bool {
        Self::ENDS.contains(&name)
    }

    /// The name of the claim that the work of a node is complete.
    pub fn completion_claim(node: &str) -> String {
        format!("{node}_complete")
    }

    /// The names of all claims that are valid in this workflow.
    pub fn all_claims(&self) -> impl Iterator<Item = String> {
        let work_nodes = self.nodes.iter().filter(|node| !Self::is_end(&node.name));
        work_nodes.map(|node| Self::completion_claim(&node.name)).chain(self.claims.iter().cloned())
    }

    /// The initial value of a variable.
    pub fn initial_value(&self, name: &str) -> Option<Value> {
        self.variables.get(name).and_then(|json| serde_json::from_str(json).ok())
    }

    /// The rules that apply at a node: first the rules of the workflow, then the rules of the node.
    pub fn rules_at(&self, node: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(self.node(node).into_iter().flat_map(|node| &node.rules))
    }

    /// The actions at events of this kind.
    pub fn actions_on(&self, kind: crate::EventKind) -> impl Iterator<Item = &WorkflowAction> {
        self.triggers.iter().filter(move |trigger| trigger.on == kind).flat_map(|trigger| &trigger.actions)
    }

    /// Renders a prompt of this workflow. A missing fact is rendered as empty text.
    pub fn render_prompt(&self, text: &str, situation: &Arc<Situation>) -> Result<String, EvaluationError> {
        template::render(text, &self.guides, situation, OnMissing::UseDefault)
    }
}
