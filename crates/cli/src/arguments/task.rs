//! Arguments of `task`.

use clap::{Args, Subcommand, value_parser};

#[derive(Debug, Args)]
pub struct TaskArguments {
    #[command(subcommand)]
    pub action: TaskAction,
}

#[derive(Debug, Subcommand)]
pub enum TaskAction {
    /// Add a task
    Add {
        /// A unique key of the task
        #[arg(long)]
        key: Option<String>,
        #[command(flatten)]
        text: TaskTextArguments,
    },
    /// Add a task, or update the task with this key
    Ensure {
        /// The key of the task
        #[arg(long)]
        key: String,
        #[command(flatten)]
        text: TaskTextArguments,
    },
    /// Start a task
    Start(NamedTaskArguments),
    /// Close a task that is done
    Close(NamedTaskArguments),
    /// Reopen a task
    Reopen(NamedTaskArguments),
    /// Mark a task as failed
    Fail(NamedTaskArguments),
    /// Mark a task for review by a person, who answers with `linchpin approve TASK`
    Review(NamedTaskArguments),
    /// List the open tasks
    List {
        /// Include closed and failed tasks
        #[arg(long)]
        all: bool,
    },
    /// List the tasks that can be started, most urgent first
    Ready,
    /// Show a task
    Show(NamedTaskArguments),
}

#[derive(Debug, Args)]
pub struct TaskTextArguments {
    /// The title, in one line
    #[arg(allow_hyphen_values = true)]
    pub title: String,
    /// A longer description
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// The parent task
    #[arg(long, value_name = "TASK")]
    pub parent: Option<String>,
    /// A task that must be closed first; may be repeated
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    pub blocked_by: Vec<String>,
    /// From 1 (most urgent) to 5 [default: 3]
    #[arg(long, value_name = "1..5", value_parser = value_parser!(u8).range(1..=5))]
    pub priority: Option<u8>,
}

#[derive(Debug, Args)]
pub struct NamedTaskArguments {
    /// The id from `linchpin task list`
    pub task: String,
}
