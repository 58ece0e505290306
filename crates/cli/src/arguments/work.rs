//! The commands that move a workflow.

use clap::Args;

#[derive(Debug, Args)]
pub struct StartArguments {
    /// The workflow, or its file; `linchpin workflows` lists them
    pub workflow: String,
    /// The node to begin at, in place of its first
    pub node: Option<String>,
}

#[derive(Debug, Args)]
pub struct NextArguments {
    /// What is done: names of claims, or one JSON object; left out, that the current node is
    #[arg(value_name = "CLAIM")]
    pub claims: Vec<String>,
    /// Pass over one pace rule, by its name or its type, once; for people
    #[arg(long, value_name = "RULE", conflicts_with = "force_all")]
    pub force: Option<String>,
    /// Pass over all pace rules, once; for people
    #[arg(long)]
    pub force_all: bool,
    /// The session whose variables gates and transitions read; left out, the one that the command runs in
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct SetArguments {
    /// The variable; it has to be declared
    pub name: String,
    /// `true`, `false`, `null`, a number or a text; quotes make anything a text
    #[arg(allow_hyphen_values = true)]
    pub value: String,
    /// The session, if not the one this runs in or the last one
    #[arg(long)]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct ApproveArguments {
    /// The gate, or a task that is marked for a person; left out, all gates that the current node waits for
    pub gate: Option<String>,
    /// Approve without asking
    #[arg(long)]
    pub yes: bool,
}
