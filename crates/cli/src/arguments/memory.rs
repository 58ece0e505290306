//! Arguments of `memory`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct MemoryArguments {
    #[command(subcommand)]
    pub action: MemoryAction,
}

#[derive(Debug, Subcommand)]
pub enum MemoryAction {
    /// Add a memory
    Add {
        /// The text
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// The type
        #[arg(long = "type", value_name = "TYPE", value_enum, default_value_t = MemoryType::Context)]
        kind: MemoryType,
        /// A tag; may be repeated
        #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
        tags: Vec<String>,
    },
    /// Find the memories with all of these words, best match first
    Search {
        /// The words; a memory must have all of them
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        filter: MemoryFilterArguments,
    },
    /// List the memories, newest first
    List {
        #[command(flatten)]
        filter: MemoryFilterArguments,
    },
    /// Show a memory
    Show(NamedMemoryArguments),
    /// Delete a memory
    Delete(NamedMemoryArguments),
}

#[derive(Debug, Args)]
pub struct MemoryFilterArguments {
    /// Only memories of this type
    #[arg(long = "type", value_name = "TYPE", value_enum)]
    pub kind: Option<MemoryType>,
    /// Only memories with this tag
    #[arg(long)]
    pub tag: Option<String>,
}

#[derive(Debug, Args)]
pub struct NamedMemoryArguments {
    /// The id from `linchpin memory list`
    pub memory: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MemoryType {
    /// How things are done in this project
    Pattern,
    /// A decision and its reasons
    Decision,
    /// A problem and its solution
    Fix,
    /// Any other knowledge
    Context,
}
