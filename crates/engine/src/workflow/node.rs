use serde::{Deserialize, Serialize};

use super::{Action, Requirement};
use crate::rules::Rule;

/// One phase of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// A template.
    pub prompt: String,
    /// In force while the node is current, beside the workflow's.
    pub rules: Vec<Rule>,
    /// What has to hold before the node can be left, whichever way.
    pub requires: Vec<Requirement>,
    pub on_enter: Vec<Action>,
    pub on_exit: Vec<Action>,
    /// The first whose `when` is true is taken.
    pub transitions: Vec<Transition>,
}

/// A way out of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// An expression.
    pub when: String,
    pub to: String,
    /// What has to hold for this way, beside what the node requires.
    pub requires: Vec<Requirement>,
}
