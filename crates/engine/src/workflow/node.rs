use serde::{Deserialize, Serialize};

use super::{Requirement, WorkflowAction};
use crate::rules::Rule;

/// A node of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// The template of the text that the agent reads at this node.
    pub prompt: String,
    /// The rules that apply while the workflow is at this node, in addition to the workflow's rules.
    pub rules: Vec<Rule>,
    /// The gates of every transition out of the node.
    pub requires: Vec<Requirement>,
    pub on_enter: Vec<WorkflowAction>,
    pub on_exit: Vec<WorkflowAction>,
    /// The transitions out of the node. The first transition whose `when` is true is taken.
    pub transitions: Vec<Transition>,
}

/// A transition out of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// The expression that must be true for the transition to be taken.
    pub when: String,
    /// The node that the transition leads to.
    pub to: String,
    /// The gates of this transition, in addition to the gates of the node.
    pub requires: Vec<Requirement>,
}
