//! Arguments of the commands for runs of the loop.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct RunArguments {
    /// The objective, which is part of every prompt
    #[arg(
        short = 'p',
        long = "prompt",
        value_name = "TEXT",
        conflicts_with = "prompt_file",
        allow_hyphen_values = true
    )]
    pub prompt: Option<String>,
    /// Read the objective from a file
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,
    /// Resume the last run, or the named one
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["prompt", "prompt_file"])]
    pub resume: Option<String>,
    /// Print the first prompt without starting an agent
    #[arg(long = "dry-run", conflicts_with = "resume")]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct RunsArguments {
    #[command(subcommand)]
    pub action: Option<RunsAction>,
}

#[derive(Debug, Subcommand)]
pub enum RunsAction {
    /// List the runs of this project, newest first
    List,
    /// Show a run, iteration by iteration
    Show {
        /// The run [default: the last one]
        run: Option<String>,
    },
    /// Stop a run and its agent now; for people
    Stop {
        /// The run [default: the current one]
        run: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct EmitArguments {
    /// One of the topics that the hat publishes
    pub topic: String,
    /// What was done, and what the next agent has to know
    #[arg(default_value = "", allow_hyphen_values = true)]
    pub summary: String,
    /// Further data as a JSON object; same as `--json OBJECT`
    #[arg(value_name = "OBJECT")]
    pub payload: Option<String>,
}

#[derive(Debug, Args)]
pub struct ProgressArguments {
    /// What was done so far
    #[arg(required = true, value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Args)]
pub struct StopArguments {
    /// The run [default: the current one]
    #[arg(long, value_name = "RUN", conflicts_with = "session")]
    pub run: Option<String>,
    /// Stop an agent's session instead of a run
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
}
