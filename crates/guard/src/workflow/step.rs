use engine::pace::Violation;

use super::Lack;

/// What came of a move.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub workflow: String,
    /// Where the workflow stands now.
    pub node: String,
    pub moved: bool,
    pub outcome: StepOutcome,
    /// What the workflow gives the agent to read, before anything else.
    pub texts: Vec<String>,
    /// For the person.
    pub notices: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepOutcome {
    /// What the node asks for.
    Prompt(String),
    /// A pace rule says that it is time to stop and reflect; in place of the prompt.
    Interrupt { rule: String, text: String, violation: Box<Violation> },
    /// Gates that do not hold.
    Held(Vec<Lack>),
    /// No way leads on from here by what was claimed.
    NoWay {
        claimed: Vec<String>,
        /// The claims that would.
        would: Vec<String>,
    },
    /// Nothing is active any more.
    Ended,
    /// Outside of workflows: what these rules count in the session begins again.
    Counting(Vec<String>),
}
