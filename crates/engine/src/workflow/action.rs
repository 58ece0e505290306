use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::observers::Template;

/// Something that a workflow does by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// An expression; `None`: always.
    pub when: Option<String>,
    pub kind: ActionKind,
}

/// `block_tools` is none of them: what it holds are rules, and they stand with the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActionKind {
    /// Variables and their new values.
    Set(Vec<(String, Template)>),
    /// A template, for the agent to read.
    Inject(String),
}

/// What happens when an event comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    pub on: EventKind,
    pub actions: Vec<Action>,
}
