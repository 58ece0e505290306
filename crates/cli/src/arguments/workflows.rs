//! Arguments of `workflows`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct WorkflowsArguments {
    #[command(subcommand)]
    pub action: Option<WorkflowsAction>,
}

#[derive(Debug, Subcommand)]
pub enum WorkflowsAction {
    /// Draw a workflow with its nodes, transitions and gates, or print its file
    Show {
        /// The workflow's name
        name: String,
        /// Output format
        #[arg(long, value_enum, default_value_t = DrawingFormat::Text)]
        format: DrawingFormat,
    },
    /// Copy a bundled workflow to `.linchpin/workflows/NAME.yml`, where you can change it
    New {
        /// The bundled workflow's name
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DrawingFormat {
    /// Text for people
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// For Graphviz
    Dot,
    /// The text of the workflow file, as a template for your own
    Yaml,
}
