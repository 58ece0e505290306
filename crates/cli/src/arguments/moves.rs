//! Arguments of the commands that move a workflow.

use clap::Args;

#[derive(Debug, Args)]
pub struct StartArguments {
    /// The workflow, or its file; `linchpin workflows` lists them
    pub workflow: String,
    /// The node to start at [default: the first node]
    pub node: Option<String>,
}

#[derive(Debug, Args)]
pub struct NextArguments {
    /// The claims: names, or one JSON object [default: the current node's `NODE_complete`]
    #[arg(value_name = "CLAIM")]
    pub claims: Vec<String>,
    /// Skip one pace rule, by its name or type, once; for people
    #[arg(long, value_name = "RULE", conflicts_with = "force_all")]
    pub force: Option<String>,
    /// Skip all pace rules, once; for people
    #[arg(long)]
    pub force_all: bool,
    /// The session whose variables are used by gates and transitions [default: the one that runs this command]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct SetArguments {
    /// The variable, which must be declared
    pub name: String,
    /// `true`, `false`, `null`, a number or a string; quotes make any value a string
    #[arg(allow_hyphen_values = true)]
    pub value: String,
    /// The session [default: the one that runs this command, or else the last one]
    #[arg(long)]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct ApproveArguments {
    /// A gate, or a task that is marked for review [default: all approvals that the current node waits for]
    pub gate: Option<String>,
    /// Approve without asking
    #[arg(long)]
    pub yes: bool,
}
