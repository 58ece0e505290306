use serde::{Deserialize, Serialize};

use super::{Action, Requirement};
use crate::rules::Rule;

/// A node of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// A template.
    pub prompt: String,
    /// Rules that apply while the node is current, in addition to the workflow's.
    pub rules: Vec<Rule>,
    /// Gates on every transition out of the node.
    pub requires: Vec<Requirement>,
    pub on_enter: Vec<Action>,
    pub on_exit: Vec<Action>,
    /// The first transition whose `when` is true is taken.
    pub transitions: Vec<Transition>,
}

/// A transition out of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// An expression.
    pub when: String,
    pub to: String,
    /// Gates on this transition, in addition to the node's.
    pub requires: Vec<Requirement>,
}
