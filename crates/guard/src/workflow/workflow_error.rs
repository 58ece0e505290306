//! The errors of workflow commands.

use store::StoreError;
use tree::GitError;

use crate::facts::pace_facts::PaceError;

/// The reason why a command could not be carried out. A move that a gate or a pace rule refuses is not an error but a
/// [`StepOutcome`](super::StepOutcome).
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    #[error("no workflow is active here")]
    NoWorkflow,
    #[error("no workflow is active here, and no rule has interrupted this session")]
    NothingToContinue,
    #[error("workflow `{workflow}` is active, at `{node}`")]
    AlreadyActive { workflow: String, node: String },
    #[error("there is no workflow `{name}`")]
    UnknownWorkflow { name: String, close: Option<String>, known: Vec<String> },
    #[error("workflow `{name}` cannot be used: {problem}")]
    BrokenWorkflow { name: String, problem: String },
    #[error(
        "workflow `{workflow}` is at `{node}` and cannot move, because its file has an error; the last valid version of its rules is used: {problem}"
    )]
    BrokenUnderWay { workflow: String, node: String, problem: String },
    #[error("workflow `{workflow}` has no node `{node}`")]
    NodeNotFound { workflow: String, node: String, nodes: Vec<String> },
    #[error("this workflow has no claim `{claim}`")]
    UnknownClaim { claim: String, close: Option<String>, known: Vec<String> },
    #[error("the claims cannot be read: {0}")]
    BadClaims(String),
    #[error("there is no rule `{rule}` at `{node}`")]
    UnknownRule { rule: String, node: String, known: Vec<String> },
    #[error("rule `{rule}` cannot be judged: {error}")]
    Pace { rule: String, error: PaceError },
    #[error("there is no earlier phase to go back to")]
    NothingBefore,
    #[error("the workflow was moved by another process at the same time; it is now {0}")]
    MovedMeanwhile(String),
    #[error("the workflow could not be moved, because hooks kept writing to the journal")]
    WriteConflict,
    #[error("`{0}` moves a workflow, which is not allowed during a run of the loop")]
    InRun(&'static str),
    #[error("agents may not run `{0}` here")]
    NotForAgents(&'static str),
    #[error("only people may run `linchpin {0}`, and this process was started by an agent")]
    PeopleOnly(&'static str),
    #[error("{what} belongs to the user's own policy, which does not let agents run `{verb}`")]
    OfUser { verb: &'static str, what: String },
    #[error("only a person may continue past rule `{0}` (`ack: human`)")]
    OnlyAPerson(String),
    #[error("`{when}`, the condition of a transition from `{node}`, cannot be evaluated: {why}")]
    When { node: String, when: String, why: String },
    #[error("the prompt of `{node}` cannot be made: {why}")]
    Prompt { node: String, why: String },
    #[error("no approval is pending at `{node}`")]
    NothingToApprove { node: String },
    #[error("there is no approval `{gate}` at `{node}`")]
    UnknownApproval { gate: String, node: String, close: Option<String>, known: Vec<String> },
    #[error("cancelled with Ctrl-C; nothing was moved")]
    Cancelled,
    #[error("the tree changed while you were reading; nothing was approved")]
    TreeChanged,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("it cannot be written down: {0}")]
    Unwritten(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}
