//! The result of a workflow command.

use engine::pace::Violation;

use super::FailedGate;
use crate::facts::ActiveWorkflow;

/// The result of a command that moves the workflow or repeats its prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub workflow_name: String,
    /// The current node.
    pub node: String,
    pub has_moved: bool,
    pub outcome: StepOutcome,
    /// Texts of actions for the agent, shown before the prompt.
    pub texts: Vec<String>,
    /// Notices for the person.
    pub notices: Vec<String>,
}

impl Step {
    /// The result if the workflow stays at its node.
    pub(super) fn stayed(active: &ActiveWorkflow, outcome: StepOutcome) -> Self {
        let (workflow_name, node) = (active.workflow.name.clone(), active.position.node().to_owned());
        Self { workflow_name, node, has_moved: false, outcome, texts: Vec::new(), notices: Vec::new() }
    }

    /// The result if the workflow has ended at `node`.
    pub(super) fn ended(workflow_name: String, node: &str) -> Self {
        let (texts, notices) = (Vec::new(), Vec::new());
        Self { workflow_name, node: node.to_owned(), has_moved: true, outcome: StepOutcome::Ended, texts, notices }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepOutcome {
    /// The prompt of the current node.
    Prompt(String),
    /// A pace rule refuses the move. The agent gets the rule's text in place of a prompt.
    PaceInterrupt { rule: String, text: String, violation: Box<Violation> },
    /// Some gates do not pass.
    GatesFailed(Vec<FailedGate>),
    /// The claims lead to no transition.
    NoTransition {
        /// The claims of this move.
        claimed: Vec<String>,
        /// The claims that would lead to a transition, each on its own.
        leading_claims: Vec<String>,
    },
    /// The workflow is over.
    Ended,
    /// The limits of these rules were restarted in the session. No workflow is active.
    LimitsRestarted(Vec<String>),
}
