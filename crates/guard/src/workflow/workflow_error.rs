use store::StoreError;
use tree::GitError;

use crate::facts::pace_facts::PaceError;

/// The reason why a command could not be carried out at all. Gates and pace rules that stop a move are not errors; see
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
        "workflow `{workflow}` is at `{node}` and cannot be moved, because its file has an error; its rules count as they last were: {problem}"
    )]
    BrokenUnderWay { workflow: String, node: String, problem: String },
    #[error("workflow `{workflow}` has no node `{node}`")]
    NodeNotFound { workflow: String, node: String, nodes: Vec<String> },
    #[error("`{claim}` is no claim of this workflow")]
    UnknownClaim { claim: String, close: Option<String>, known: Vec<String> },
    #[error("the claims cannot be read: {0}")]
    BadClaims(String),
    #[error("no rule at `{node}` is called `{rule}`")]
    UnknownRule { rule: String, node: String, known: Vec<String> },
    #[error("rule `{rule}` cannot be judged: {error}")]
    Pace { rule: String, error: PaceError },
    #[error("there is no earlier phase to go back to")]
    NothingBefore,
    #[error("somebody else moved the workflow at the same time; it is now {0}")]
    MovedMeanwhile(String),
    #[error("hooks kept writing while the workflow was to be moved")]
    WriteConflict,
    #[error("this is part of a run of the loop, and `{0}` moves workflows")]
    InRun(&'static str),
    #[error("`{0}` is not for agents here")]
    NotForAgents(&'static str),
    #[error("`linchpin {0}` is for people, and an agent runs it")]
    PeopleOnly(&'static str),
    #[error("{what} is the user's own, and the user does not let agents run `{verb}`")]
    OfUser { verb: &'static str, what: String },
    #[error("only a person may go on past rule `{0}` (`ack: human`)")]
    OnlyAPerson(String),
    #[error("`{when}`, of a way out of `{node}`, cannot be evaluated: {why}")]
    When { node: String, when: String, why: String },
    #[error("the prompt of `{node}` cannot be made: {why}")]
    Prompt { node: String, why: String },
    #[error("nothing at `{node}` waits for a person's yes")]
    NothingToApprove { node: String },
    #[error("no approval at `{node}` is called `{gate}`")]
    UnknownApproval { gate: String, node: String, close: Option<String>, known: Vec<String> },
    #[error("interrupted; nothing was moved")]
    Interrupted,
    #[error("the tree changed while you were reading; nothing was approved")]
    TreeChanged,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("it cannot be written down: {0}")]
    Unwritten(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}
