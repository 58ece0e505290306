//! `rules …` on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum RulesArguments {
    /// Every rule that is written down, whether it is in force, and why
    List,
    /// Which rule a name means, and which others of that name it hides
    Which { name: String },
    /// The text of a rule, as it is or as it was
    Show {
        name: String,
        /// The version that a verdict names: its digest, or the beginning of it
        #[arg(long, value_name = "DIGEST")]
        version: Option<String>,
    },
    /// Write a new rule
    New(NewRuleArguments),
    /// Change a rule in your editor; it is replaced once it is sound
    Edit(EditRuleArguments),
    /// Switch a rule on
    Enable(NamedRuleArguments),
    /// Switch a rule off
    Disable(NamedRuleArguments),
    /// Delete a rule
    Delete(NamedRuleArguments),
    /// Copy rules from elsewhere into the policy, once they are checked
    Import(ImportRulesArguments),
    /// Write rules out, for somewhere else
    Export(ExportRulesArguments),
    /// Put a rule before a person: what an agent may do
    Propose(ProposeRuleArguments),
    /// Make a proposed rule a rule; without an id, list what is proposed
    Accept(AcceptRuleArguments),
}

#[derive(Debug, Args)]
pub struct NewRuleArguments {
    /// The rule's id, and its file's name
    pub id: String,

    /// A tool that it is about, such as `Bash` or `Web*`; may be repeated, or several with commas
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub tools: Vec<String>,

    /// A tool of an MCP server that it is about, `server:tool`; may be repeated, or several with commas
    #[arg(long, value_name = "SERVER:TOOL", value_delimiter = ',')]
    pub mcp_tools: Vec<String>,

    /// A regex that is searched in each simple command
    #[arg(long, value_name = "REGEX")]
    pub command_pattern: Option<String>,

    /// A pattern of paths that a call reads, writes or deletes; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub paths: Vec<String>,

    /// An event that it is judged on, such as `before_tool` or `stop`; may be repeated
    #[arg(long, value_name = "EVENT")]
    pub on: Vec<String>,

    /// An expression: what else must be true
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub when: Option<String>,

    /// `block`, `ask`, `warn` or `allow`
    #[arg(long)]
    pub action: Option<String>,

    /// What the agent reads: why, and what to do instead
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: String,

    /// In your own policy, for every project
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Args)]
pub struct EditRuleArguments {
    /// The rule's id
    pub id: String,

    /// Take the new text from this file (`-`: from standard input) in place of your editor
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// In your own policy
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Args)]
pub struct NamedRuleArguments {
    /// The rule's id
    pub id: String,

    /// In your own policy
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Args)]
pub struct ImportRulesArguments {
    /// A rule file (`.md`), a library of rules (`.yml`), a folder of them, or a list of rules in DeepWork's old format
    /// (`.deepwork.rules.yml`, `.deepwork.policy.yml`), which become rule files
    pub from: PathBuf,

    /// Replace files of the same name; rules of a list in the old format replace none
    #[arg(long)]
    pub force: bool,

    /// Into your own policy
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Args)]
pub struct ExportRulesArguments {
    /// The rules' ids, of any tier
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,

    /// Into files in this folder, in place of standard output
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ProposeRuleArguments {
    /// The id that the rule would have
    pub id: String,

    /// The rule, as a Markdown file; `-` reads standard input
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct AcceptRuleArguments {
    /// The proposed rule's id
    pub id: Option<String>,

    /// Accept without asking
    #[arg(long)]
    pub yes: bool,
}
