//! `workflows …` on the command line.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct WorkflowsArguments {
    #[command(subcommand)]
    pub action: Option<WorkflowsAction>,
}

#[derive(Debug, Subcommand)]
pub enum WorkflowsAction {
    /// Draw a workflow: its nodes, the ways between them, and what each requires; or print its file
    Show {
        name: String,
        /// How it is drawn
        #[arg(long, value_enum, default_value_t = Drawing::Text)]
        format: Drawing,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Drawing {
    /// For people
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// For Graphviz
    Dot,
    /// The file itself, to make one's own of it
    Yaml,
}
