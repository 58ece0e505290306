//! What `task` is told.

use clap::{Args, Subcommand, value_parser};

#[derive(Debug, Args)]
pub struct TaskArguments {
    #[command(subcommand)]
    pub action: TaskAction,
}

#[derive(Debug, Subcommand)]
pub enum TaskAction {
    /// Write down something to do
    Add {
        /// A name to find it by: no other task may have it
        #[arg(long)]
        key: Option<String>,
        #[command(flatten)]
        said: TaskTextArguments,
    },
    /// Write down something to do, or bring in line what there is with this key
    Ensure {
        /// The name to find it by
        #[arg(long)]
        key: String,
        #[command(flatten)]
        said: TaskTextArguments,
    },
    /// Begin with a task
    Start(NamedTaskArguments),
    /// Say that it is done
    Close(NamedTaskArguments),
    /// Take it back: it is open again
    Reopen(NamedTaskArguments),
    /// Say that nothing will come of it
    Fail(NamedTaskArguments),
    /// Have a person look at it: `linchpin approve TASK` is the answer
    Review(NamedTaskArguments),
    /// List what is left to do
    List {
        /// What is closed and what failed too
        #[arg(long)]
        all: bool,
    },
    /// List what can be started, the most urgent first
    Ready,
    /// Show all that is known of a task
    Show(NamedTaskArguments),
}

#[derive(Debug, Args)]
pub struct TaskTextArguments {
    /// What is to be done, in one line
    #[arg(allow_hyphen_values = true)]
    pub title: String,
    /// More about it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// The task that it is a part of
    #[arg(long, value_name = "TASK")]
    pub parent: Option<String>,
    /// A task that has to be closed before; may be repeated
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    pub blocked_by: Vec<String>,
    /// From 1, the most urgent, to 5; 3 where nothing is said
    #[arg(long, value_name = "1..5", value_parser = value_parser!(u8).range(1..=5))]
    pub priority: Option<u8>,
}

#[derive(Debug, Args)]
pub struct NamedTaskArguments {
    /// Its id, as `linchpin task list` shows it
    pub task: String,
}
