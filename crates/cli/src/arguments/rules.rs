//! Arguments of `rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum RulesArguments {
    /// List every rule, whether it is in force, and why
    List,
    /// Show which rule a name selects, and which other rules it replaces
    Which {
        /// The rule's id
        name: String,
    },
    /// Show the text of a rule, the current or an earlier version
    Show {
        /// The rule's id
        name: String,
        /// The version: a digest, or the beginning of one
        #[arg(long, value_name = "DIGEST")]
        version: Option<String>,
    },
    /// Write a new rule
    New(NewRuleArguments),
    /// Edit a rule in your editor; the file is replaced only if the new text has no errors
    Edit(EditRuleArguments),
    /// Switch a rule on
    Enable(NamedRuleArguments),
    /// Switch a rule off
    Disable(NamedRuleArguments),
    /// Delete a rule
    Delete(NamedRuleArguments),
    /// Check rules from elsewhere and copy them into the policy
    Import(ImportRulesArguments),
    /// Write rules to stdout or to files
    Export(ExportRulesArguments),
    /// Propose a rule to a person; agents may do this
    Propose(ProposeRuleArguments),
    /// Accept a proposed rule; without an id, list the proposals
    Accept(AcceptRuleArguments),
}

#[derive(Debug, Args)]
pub struct NewRuleArguments {
    /// The rule's id, which is also the name of its file
    pub id: String,

    /// A tool that the rule applies to, such as `Bash` or `Web*`; may be repeated, or separated by commas
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub tools: Vec<String>,

    /// An MCP tool that the rule applies to, `server:tool`; may be repeated, or separated by commas
    #[arg(long, value_name = "SERVER:TOOL", value_delimiter = ',')]
    pub mcp_tools: Vec<String>,

    /// A regex to search for in each simple command
    #[arg(long, value_name = "REGEX")]
    pub command_pattern: Option<String>,

    /// A pattern for paths that a call reads, writes or deletes; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub paths: Vec<String>,

    /// An event at which the rule is judged, such as `before_tool` or `stop`; may be repeated
    #[arg(long, value_name = "EVENT")]
    pub on: Vec<String>,

    /// An expression that must also be true
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub when: Option<String>,

    /// `block`, `ask`, `warn` or `allow`
    #[arg(long)]
    pub action: Option<String>,

    /// The text for the agent: why, and what to do instead
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: String,

    /// Use your own policy, for every project
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Args)]
pub struct EditRuleArguments {
    /// The rule's id
    pub id: String,

    /// Read the new text from this file (`-`: from stdin) instead of opening your editor
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Use your own policy
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Args)]
pub struct NamedRuleArguments {
    /// The rule's id
    pub id: String,

    /// Use your own policy
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Args)]
pub struct ImportRulesArguments {
    /// A rule file (`.md`), a library of rules (`.yml`), a directory of these, or a list of rules in DeepWork's old
    /// format (`.deepwork.rules.yml`, `.deepwork.policy.yml`), which is converted into rule files
    pub from: PathBuf,

    /// Replace files of the same name; rules of a list in the old format never replace files
    #[arg(long)]
    pub force: bool,

    /// Copy into your own policy
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Args)]
pub struct ExportRulesArguments {
    /// The rules' ids, of any tier
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,

    /// Write files into this directory instead of printing to stdout
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ProposeRuleArguments {
    /// The id that the rule would have
    pub id: String,

    /// The rule as a Markdown file; `-` reads stdin
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
