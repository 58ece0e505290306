//! Arguments of `hats`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct HatsArguments {
    #[command(subcommand)]
    pub action: HatsAction,
}

#[derive(Debug, Subcommand)]
pub enum HatsAction {
    /// List the hats with the topics that trigger them and that they publish
    List,
    /// Print the prompt of a hat
    Show {
        /// The hat's name
        hat: String,
    },
    /// Check `.linchpin/loop.yml`: topics, gates, and whether a run can end
    Validate,
    /// Draw the hats and the topics between them
    Graph {
        /// Output format
        #[arg(long, value_enum, default_value_t = GraphFormat::Mermaid)]
        format: GraphFormat,
    },
    /// Write a bundled loop to `.linchpin/loop.yml`
    New {
        /// The bundled loop; without it, list the bundled loops
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
