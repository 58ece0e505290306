//! What `hats` is told.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct HatsArguments {
    #[command(subcommand)]
    pub action: HatsAction,
}

#[derive(Debug, Subcommand)]
pub enum HatsAction {
    /// List the hats: what puts each on, and what it hands over
    List,
    /// Print the prompt that an agent under a hat gets
    Show { hat: String },
    /// Check `.linchpin/loop.yml`: topics, gates, and whether a run can end
    Validate,
    /// Draw who hands over to whom
    Graph {
        /// How it is drawn
        #[arg(long, value_enum, default_value_t = GraphFormat::Mermaid)]
        format: GraphFormat,
    },
    /// Write a loop of the box to `.linchpin/loop.yml`
    New {
        /// Left out: those that there are
        preset: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// A Mermaid flowchart
    Mermaid,
    /// For Graphviz
    Dot,
}
