//! Workflows: nodes, the ways between them, and what holds on them.
//!
//! As a rule is, a [`Workflow`] is plain data: it was read and checked elsewhere, so every expression in it is sound, every
//! name means something, and it can lie compiled in a cache. What is here tells what follows from the file alone: the
//! shape of the graph, its drawing, what of it a person has to accept. Where a workflow stands is no part of it.

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
pub use gate::{Expected, Gate, Requirement, Webhook};
pub use node::{Node, Transition};
pub(crate) use trust::{of_gate as part_of_gate, of_rule as part_of_rule, without_newer_defaults};

use crate::expr::{EvaluationError, OnMissing, template};
use crate::observers::Observer;
use crate::rules::{Rule, Tier};
use crate::situation::Situation;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workflow {
    pub name: String,
    pub tier: Tier,
    /// The file it was read from, as people know it.
    pub source: String,
    /// Digest of the text it was made from.
    pub digest: String,
    /// The node that it begins with.
    pub start: String,
    /// Variables with their first values, each as JSON text.
    pub variables: BTreeMap<String, String>,
    /// Those that the file declares; beside them each node has its own.
    pub claims: Vec<String>,
    /// In force on every node.
    pub rules: Vec<Rule>,
    pub observers: Vec<Observer>,
    pub gates: BTreeMap<String, Gate>,
    pub triggers: Vec<EventTrigger>,
    /// As the file orders them.
    pub nodes: Vec<Node>,
    /// The texts of all guides that a prompt of this workflow can reach, by name.
    pub guides: BTreeMap<String, String>,
}

impl Workflow {
    /// Reached: the work is done, and nothing is active any more.
    pub const DONE: &str = "done";
    /// The work was given up.
    pub const ABORTED: &str = "aborted";
    /// The nodes that every workflow has, declared or not.
    pub const ENDS: [&str; 2] = [Self::DONE, Self::ABORTED];

    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    pub fn is_end(name: &str) -> bool {
        Self::ENDS.contains(&name)
    }

    /// What an agent claims that has done what a node asks for.
    pub fn completion_of(node: &str) -> String {
        format!("{node}_complete")
    }

    /// Everything that may be claimed.
    pub fn all_claims(&self) -> impl Iterator<Item = String> {
        let own = self.nodes.iter().filter(|node| !Self::is_end(&node.name));
        own.map(|node| Self::completion_of(&node.name)).chain(self.claims.iter().cloned())
    }

    /// A variable's first value.
    pub fn variable(&self, name: &str) -> Option<Value> {
        self.variables.get(name).and_then(|json| serde_json::from_str(json).ok())
    }

    /// The rules in force while a node is current: the workflow's, then the node's.
    pub fn rules_at(&self, node: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(self.node(node).into_iter().flat_map(|node| &node.rules))
    }

    /// What is to be done when an event of this kind comes.
    pub fn actions_on(&self, kind: crate::EventKind) -> impl Iterator<Item = &Action> {
        self.triggers.iter().filter(move |trigger| trigger.on == kind).flat_map(|trigger| &trigger.actions)
    }

    /// A prompt of this workflow, with everything filled in. Facts that are missing leave nothing behind.
    pub fn rendered(&self, text: &str, situation: &Arc<Situation>) -> Result<String, EvaluationError> {
        template::render(text, &self.guides, situation, OnMissing::TakeForNothing)
    }
}
