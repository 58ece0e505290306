//! The result of a command that moves the workflow.

use engine::pace::Violation;

use super::FailedGate;
use crate::facts::ActiveWorkflow;

/// The result of a command that moves the workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub workflow: String,
    /// The current node.
    pub node: String,
    pub has_moved: bool,
    pub outcome: StepOutcome,
    /// Texts of actions for the agent. They are shown before the prompt.
    pub texts: Vec<String>,
    /// Notices for the person.
    pub notices: Vec<String>,
}

impl Step {
    /// The workflow stays at its node.
    pub(super) fn stayed(active: &ActiveWorkflow, outcome: StepOutcome) -> Self {
        let (workflow, node) = (active.workflow.name.clone(), active.position.node().to_owned());
        Self { workflow, node, has_moved: false, outcome, texts: Vec::new(), notices: Vec::new() }
    }

    /// The workflow has ended at `node`.
    pub(super) fn ended(workflow: String, node: &str) -> Self {
        let (texts, notices) = (Vec::new(), Vec::new());
        Self { workflow, node: node.to_owned(), has_moved: true, outcome: StepOutcome::Ended, texts, notices }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepOutcome {
    /// The node's prompt.
    Prompt(String),
    /// A pace rule interrupts the move. Its text replaces the prompt.
    Interrupt { rule: String, text: String, violation: Box<Violation> },
    /// Some gates do not pass.
    GatesFailed(Vec<FailedGate>),
    /// The claims lead to no transition.
    NoTransition {
        claimed: Vec<String>,
        /// The claims that would lead to a transition.
        leading_claims: Vec<String>,
    },
    /// The workflow is over.
    Ended,
    /// No workflow is active. The limits of these rules restarted in the session.
    LimitsRestarted(Vec<String>),
}
