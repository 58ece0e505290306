//! What `memory` is told.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct MemoryArguments {
    #[command(subcommand)]
    pub action: MemoryAction,
}

#[derive(Debug, Subcommand)]
pub enum MemoryAction {
    /// Keep something that was learnt
    Add {
        /// What others should know
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// What it is about
        #[arg(long = "type", value_name = "TYPE", value_enum, default_value_t = MemoryType::Context)]
        kind: MemoryType,
        /// A word to find it by; may be repeated
        #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
        tags: Vec<String>,
    },
    /// Find what has all of these words, the best match first
    Search {
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        which: MemoryFilterArguments,
    },
    /// List them, the newest first
    List {
        #[command(flatten)]
        which: MemoryFilterArguments,
    },
    /// Show all of one
    Show(NamedMemoryArguments),
    /// Forget one
    Delete(NamedMemoryArguments),
}

#[derive(Debug, Args)]
pub struct MemoryFilterArguments {
    /// Only of this type
    #[arg(long = "type", value_name = "TYPE", value_enum)]
    pub kind: Option<MemoryType>,
    /// Only with this tag
    #[arg(long)]
    pub tag: Option<String>,
}

#[derive(Debug, Args)]
pub struct NamedMemoryArguments {
    /// Its id, as `linchpin memory list` shows it
    pub memory: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MemoryType {
    /// How things are done here
    Pattern,
    /// What was chosen, and why
    Decision,
    /// What went wrong, and what helped
    Fix,
    /// What else is good to know
    Context,
}
