use engine::pace::Violation;

use super::FailedGate;

/// The result of a command that moves the workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub workflow: String,
    /// The current node.
    pub node: String,
    pub moved: bool,
    pub outcome: StepOutcome,
    /// Texts of actions for the agent, before the prompt.
    pub texts: Vec<String>,
    /// For the person.
    pub notices: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepOutcome {
    /// The node's prompt.
    Prompt(String),
    /// A pace rule interrupts the move. Its text replaces the prompt.
    Interrupt { rule: String, text: String, violation: Box<Violation> },
    /// Gates that do not pass.
    GatesFailed(Vec<FailedGate>),
    /// The claims choose no transition.
    NoTransition {
        claimed: Vec<String>,
        /// Claims that would choose one.
        leading_claims: Vec<String>,
    },
    /// The workflow is over.
    Ended,
    /// Without a workflow: limits of these rules start again in the session.
    Counting(Vec<String>),
}
