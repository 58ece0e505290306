//! The command line.

mod hats;
pub mod help;
mod loops;
mod memory;
mod moves;
mod rules;
mod task;
mod workflows;

pub use hats::{GraphFormat, HatsAction, HatsArguments};
pub use loops::{EmitArguments, ProgressArguments, RunArguments, RunsAction, RunsArguments, StopArguments};
pub use memory::{MemoryAction, MemoryArguments, MemoryFilterArguments, MemoryType, NamedMemoryArguments};
pub use moves::{ApproveArguments, NextArguments, SetArguments, StartArguments};
pub use rules::{
    AcceptRuleArguments, EditRuleArguments, ExportRulesArguments, ImportRulesArguments, NamedRuleArguments,
    NewRuleArguments, ProposeRuleArguments, RulesArguments,
};
pub use task::{NamedTaskArguments, TaskAction, TaskArguments, TaskTextArguments};
pub use workflows::{DrawingFormat, WorkflowsAction, WorkflowsArguments};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Keeps the wheels on your coding agents.
#[derive(Debug, Parser)]
#[command(name = "linchpin", version, disable_help_subcommand = true)]
pub struct CommandLine {
    #[command(subcommand)]
    pub command: Command,

    /// Print the result as JSON
    #[arg(long, global = true)]
    pub json: bool,

    /// When to color the output
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, hide_default_value = true)]
    pub color: Colour,
}

// The values have no doc comments, because with them the parser would print the help of every command in its long form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

const HOOK: &str = "\
Agents call this at every step: `linchpin install AGENT` writes it into their settings. It reads the agent's event as JSON \
from stdin, judges it by the rules in force, records it in the journal, and answers in that agent's format: JSON on \
stdout, or exit code 2 with the reason on stderr. It answers within the `deadline` of the configuration, whatever happens.

To see the verdict for a command without recording anything, run `linchpin try 'COMMAND'`.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a policy into this project and install the hooks of your agents
    Init(InitArguments),
    /// Add Linchpin's hooks to an agent's settings
    Install(InstallArguments),
    /// Remove Linchpin's hooks from an agent's settings
    Uninstall(InstallArguments),
    /// Check that the hooks work, and show what would make them ineffective
    Doctor,
    /// Accept the parts of a repository's policy that run programs, approve calls or switch rules off
    Trust(TrustArguments),
    /// Replay a recorded session in a scratch repository and explain every verdict
    Demo,
    /// Print a completion script for your shell
    Completions(CompletionsArguments),
    /// Judge one event from stdin; agents run this
    #[command(after_help = HOOK)]
    Hook {
        /// The calling agent: `claude`, `codex`, `gemini`, `antigravity`, `cursor`, `copilot` or `opencode`
        #[arg(index = 1)]
        agent: String,
        /// The event, for agents whose payload does not name it
        #[arg(index = 2)]
        event: Option<String>,
    },
    /// Judge the changed files by the file rules: for people, pre-commit and CI
    Check(CheckArguments),
    /// Acknowledge a rule that warns or holds the stop, for one session
    Ack(AckArguments),
    /// Allow one refused call
    Allow(AllowArguments),
    /// Pause Linchpin for a while
    Pause(PauseArguments),
    /// End a pause, or let a stopped session continue
    Resume(ResumeArguments),
    /// Check every policy file
    Validate(ValidateArguments),
    /// Run the test cases of the rules
    Test(TestArguments),
    /// Explain a verdict, a pattern, an expression or a command
    Explain {
        #[command(subcommand)]
        what: ExplainArguments,
    },
    /// Show the verdict that an agent would get now, without recording anything
    Try(TryArguments),
    /// Judge recorded events again, by the current rules
    Replay(ReplayArguments),
    /// List, show and change rules
    Rules {
        #[command(subcommand)]
        what: RulesArguments,
    },
    /// List, draw and copy workflows
    Workflows(WorkflowsArguments),
    /// Write, check, show and draw the loop of this project
    Hats(HatsArguments),
    /// Show the journal
    Log(LogArguments),
    /// Start a workflow
    Start(StartArguments),
    /// Claim what is done, and move to the next node
    Next(NextArguments),
    /// Continue past an interrupt: print the prompt, and let the rules that fired count again from here
    Continue,
    /// Approve a gate or a task that waits for a person
    Approve(ApproveArguments),
    /// Show the rules in force, the workflow's phase and the session's state
    Status(StatusArguments),
    /// Set a variable of the workflow or of a session
    Set(SetArguments),
    /// Print the prompt of the current phase again
    Repeat,
    /// Go back to the previous phase
    Prev,
    /// Start the workflow again from its first node
    Restart,
    /// Leave the workflow
    Abort,
    /// Run the loop of this project with its agents, or resume a run
    Run(RunArguments),
    /// List, show and stop runs
    Runs(RunsArguments),
    /// Ask a run to end after its iteration, or a session to stop
    Stop(StopArguments),
    /// Publish a topic and hand over the work; agents in a run use this
    Emit(EmitArguments),
    /// Report progress; agents in a run use this
    Progress(ProgressArguments),
    /// Manage the tasks of this project
    Task(TaskArguments),
    /// Save and search memories
    Memory(MemoryArguments),
}

#[derive(Debug, Args)]
pub struct InitArguments {
    /// Install the hooks of this agent (`claude`, `gemini`, …) even if it is not found; may be repeated
    #[arg(long = "agent", value_name = "AGENT")]
    pub agents: Vec<String>,

    /// Write only the policy, no hooks
    #[arg(long, conflicts_with = "agents")]
    pub no_hooks: bool,

    /// Install a git hook that runs `linchpin check` before every commit
    #[arg(long)]
    pub pre_commit: bool,
}

// Sets the usage line, because the line that the parser generates for an error about `--fix` is misleading.
#[derive(Debug, Args)]
#[command(override_usage = "linchpin check [OPTIONS] [A..B]")]
pub struct CheckArguments {
    /// The changes of these commits, `A..B` [default: the changes of the working tree since its branch left the default branch]
    #[arg(value_name = "A..B")]
    pub range: Option<String>,

    /// Compare the working tree with the merge base of this commit or branch
    #[arg(long, value_name = "REF", conflicts_with = "range")]
    pub base: Option<String>,

    /// Judge only the staged changes
    #[arg(long, conflicts_with = "range")]
    pub staged: bool,

    /// Read the changes from a file or `-` instead of git: on each line `M`, `A` or `D`, a tab and a path
    #[arg(long, value_name = "FILE", conflicts_with_all = ["range", "base", "staged"])]
    pub changed_from: Option<String>,

    /// Judge this rule only; may be repeated
    #[arg(long = "rule", value_name = "ID")]
    pub rules: Vec<String>,

    /// Run the commands of rules that have one
    #[arg(long, conflicts_with_all = ["range", "changed_from", "staged"])]
    pub fix: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Text for people
    Text,
    /// The same as `--json`
    Json,
    /// Annotations in a GitHub workflow
    Github,
    /// SARIF 2.1.0
    Sarif,
}

#[derive(Debug, Args)]
pub struct InstallArguments {
    /// `claude`, `codex`, `gemini`, `antigravity`, `cursor`, `copilot` or `opencode`
    pub agent: String,

    /// Use your own settings, for every project
    #[arg(long, conflicts_with = "local")]
    pub user: bool,

    /// Use this project's settings that are not committed
    #[arg(long)]
    pub local: bool,
}

#[derive(Debug, Args)]
pub struct TrustArguments {
    /// Accept without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    pub shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Args)]
pub struct AckArguments {
    /// The rule's id, or its title
    pub rule: String,

    /// Why the rule does not apply this time
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: String,

    /// The session [default: the one that runs this command, or else the last one]
    #[arg(long)]
    pub session: Option<String>,

    /// Only print a line for the commit message, from which `linchpin check` reads the acknowledgement
    #[arg(long, conflicts_with = "session")]
    pub trailer: bool,
}

#[derive(Debug, Args)]
pub struct AllowArguments {
    /// The number in the refusal
    #[arg(value_parser = event_number)]
    pub id: i64,

    /// Allow the next try of the call (the default)
    #[arg(long, conflicts_with = "session")]
    pub once: bool,

    /// Allow this call for the rest of the session
    #[arg(long)]
    pub session: bool,

    /// Allow without asking
    #[arg(long)]
    pub yes: bool,
}

/// Parses the number of an event in the journal.
fn event_number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "give the number of an event, as `linchpin log` shows it".to_owned())
}

#[derive(Debug, Args)]
pub struct PauseArguments {
    /// The duration, such as `10m` or `2h`; at most `24h`
    pub duration: String,

    /// The reason, which is recorded in the journal
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct ResumeArguments {
    /// Let this session continue after `linchpin stop --session`
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// The project [default: the current one]
    pub project: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct TestArguments {
    /// Only the cases of these rules
    #[arg(value_name = "RULE")]
    pub rules: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "linchpin try [OPTIONS] <COMMAND>\n       linchpin try [OPTIONS] --tool <TOOL> [--path <PATH>]\n       \
    linchpin try [OPTIONS] --event stop"
)]
pub struct TryArguments {
    /// A shell command that the agent would run
    #[arg(value_name = "COMMAND", required_unless_present_any = ["tool", "event"])]
    pub command: Option<String>,

    /// A tool other than the shell: `Write`, `apply_patch`, `mcp__SERVER__TOOL`, …
    #[arg(long, conflicts_with = "command")]
    pub tool: Option<String>,

    /// The file that the tool reads or writes
    #[arg(long, requires = "tool", conflicts_with_all = ["command", "event"])]
    pub path: Option<PathBuf>,

    /// An event other than a tool call
    #[arg(long, value_enum, conflicts_with_all = ["command", "tool"])]
    pub event: Option<TriedEvent>,

    /// The agent [default: the one that runs this command, or else the last one in the journal]
    #[arg(long)]
    pub agent: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TriedEvent {
    Stop,
}

#[derive(Debug, Subcommand)]
pub enum ExplainArguments {
    /// Explain a recorded event, rule by rule: the current rules with the facts recorded then
    Event {
        /// The number from `linchpin log`
        #[arg(value_parser = event_number)]
        id: i64,
    },
    /// Explain the last event that was warned about, asked about or blocked, rule by rule
    Last,
    /// Show the simple commands that a shell command consists of
    Command {
        /// The shell command, in quotes
        #[arg(allow_hyphen_values = true)]
        command: String,
    },
    /// Show whether a pattern matches a path, and what it captures
    Pattern {
        /// The pattern, such as `src/{path}.rs`
        #[arg(allow_hyphen_values = true)]
        pattern: String,
        /// The path, relative to the root of the project
        #[arg(allow_hyphen_values = true)]
        path: String,
    },
    /// Evaluate an expression with the current state: git, files, tasks, the last session's variables, the active workflow
    When {
        /// The expression, as in a rule's `when`
        #[arg(allow_hyphen_values = true)]
        expression: String,
        /// Values for the names in the expression, as a JSON object
        #[arg(long, value_name = "JSON")]
        with: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// Judge by the policy in this directory instead of the project's
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    /// Only events since then: `30m`, `2h`, `7d`, or a date and time
    #[arg(long)]
    pub since: Option<String>,
    /// Only events of this session
    #[arg(long)]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct LogArguments {
    #[command(subcommand)]
    pub action: Option<LogAction>,

    /// Only events of this session
    #[arg(long)]
    pub session: Option<String>,
    /// An event kind, such as `before_tool`
    #[arg(long)]
    pub kind: Option<String>,
    /// Only this verdict or a stricter one: `warn`, `ask` or `block`
    #[arg(long)]
    pub level: Option<String>,
    /// Only events in whose verdict this rule took part
    #[arg(long)]
    pub rule: Option<String>,
    /// Only events since then: `30m`, `2h`, `7d`, or a date and time
    #[arg(long)]
    pub since: Option<String>,
    /// The maximum number of events, newest first; 0 for all
    #[arg(long, default_value_t = 20)]
    pub limit: usize,
    /// Keep printing new events
    #[arg(short, long)]
    pub follow: bool,
}

#[derive(Debug, Subcommand)]
pub enum LogAction {
    /// Delete events that are older than `retention` in the configuration
    Prune,
}

#[derive(Debug, Args)]
pub struct StatusArguments {
    /// The session [default: the one that runs this command, or else the last one]
    #[arg(long)]
    pub session: Option<String>,
    /// Show how often each rule fired and with which verdict, in total and by phase
    #[arg(long)]
    pub metrics: bool,
}
