//! Workflows: nodes, transitions and gates.
//!
//! Like a rule, a [`Workflow`] is plain data, read and checked by another crate: its expressions are valid, its names
//! are defined, and it can be cached in compiled form. This module contains what follows from the file alone: the
//! graph, its diagram, and what a person has to trust. The position in a workflow is stored elsewhere.

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

pub use action::{Action, ActionEffect, ActionKind, EventTrigger};
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
    /// Digest of the file.
    pub digest: String,
    /// The first node.
    pub start: String,
    /// Initial values of variables as JSON text.
    pub variables: BTreeMap<String, String>,
    /// Declared claims. Each node also has a completion claim.
    pub claims: Vec<String>,
    /// Rules that apply on every node.
    pub rules: Vec<Rule>,
    pub observers: Vec<Observer>,
    pub gates: BTreeMap<String, Gate>,
    pub triggers: Vec<EventTrigger>,
    /// Nodes in the order of the file.
    pub nodes: Vec<Node>,
    /// Texts of all guides that a prompt of this workflow can include, by name.
    pub guides: BTreeMap<String, String>,
}

impl Workflow {
    /// The work is done; no workflow is active afterwards.
    pub const DONE: &str = "done";
    /// The work was abandoned.
    pub const ABORTED: &str = "aborted";
    /// End nodes, which every workflow has, declared or not.
    pub const ENDS: [&str; 2] = [Self::DONE, Self::ABORTED];

    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    pub fn is_end(name: &str) -> bool {
        Self::ENDS.contains(&name)
    }

    /// The claim that the work of a node is complete.
    pub fn completion_claim(node: &str) -> String {
        format!("{node}_complete")
    }

    /// All valid claims.
    pub fn all_claims(&self) -> impl Iterator<Item = String> {
        let own = self.nodes.iter().filter(|node| !Self::is_end(&node.name));
        own.map(|node| Self::completion_claim(&node.name)).chain(self.claims.iter().cloned())
    }

    /// A variable's initial value.
    pub fn variable(&self, name: &str) -> Option<Value> {
        self.variables.get(name).and_then(|json| serde_json::from_str(json).ok())
    }

    /// Rules that apply at a node: the workflow's, then the node's.
    pub fn rules_at(&self, node: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(self.node(node).into_iter().flat_map(|node| &node.rules))
    }

    /// Actions on events of this kind.
    pub fn actions_on(&self, kind: crate::EventKind) -> impl Iterator<Item = &Action> {
        self.triggers.iter().filter(move |trigger| trigger.on == kind).flat_map(|trigger| &trigger.actions)
    }

    /// Renders a prompt of this workflow. Missing facts become empty.
    pub fn rendered(&self, text: &str, situation: &Arc<Situation>) -> Result<String, EvaluationError> {
        template::render(text, &self.guides, situation, OnMissing::UseDefault)
    }
}
