//! The commands around a run of the loop.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct RunArguments {
    /// What the run is for; every prompt carries it
    #[arg(
        short = 'p',
        long = "prompt",
        value_name = "TEXT",
        conflicts_with = "prompt_file",
        allow_hyphen_values = true
    )]
    pub prompt: Option<String>,
    /// The same, from a file
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,
    /// Go on with a run: the last one, or the one that is named
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["prompt", "prompt_file"])]
    pub resume: Option<String>,
    /// Print the first prompt, and start nothing
    #[arg(long = "dry-run", conflicts_with = "resume")]
    pub only_show: bool,
}

#[derive(Debug, Args)]
pub struct RunsArguments {
    #[command(subcommand)]
    pub action: Option<RunsAction>,
}

#[derive(Debug, Subcommand)]
pub enum RunsAction {
    /// List the runs of this project, the newest first
    List,
    /// Show what a run came to, iteration by iteration
    Show {
        /// The run; left out, the last one
        run: Option<String>,
    },
    /// End a run now, its agent included; for people
    Stop {
        /// The run; left out, the one that is going on
        run: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct EmitArguments {
    /// One of the topics that the hat publishes
    pub topic: String,
    /// What was done, and what the next one has to know
    #[arg(default_value = "", allow_hyphen_values = true)]
    pub summary: String,
    /// More, as a JSON object; `--json OBJECT` says the same
    #[arg(value_name = "OBJECT")]
    pub payload: Option<String>,
}

#[derive(Debug, Args)]
pub struct ProgressArguments {
    /// How far the work is
    #[arg(required = true, value_name = "TEXT", allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Args)]
pub struct StopArguments {
    /// The run; left out, the one that is going on
    #[arg(long, value_name = "RUN", conflicts_with = "session")]
    pub run: Option<String>,
    /// A session of an agent, in place of a run
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
}
