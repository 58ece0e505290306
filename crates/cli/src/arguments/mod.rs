//! The command line.

mod hats;
pub mod help;
mod loops;
mod memory;
mod rules;
mod task;
mod work;
mod workflows;

pub use hats::{GraphFormat, HatsAction, HatsArguments};
pub use loops::{EmitArguments, ProgressArguments, RunArguments, RunsAction, RunsArguments, StopArguments};
pub use memory::{MemoryAction, MemoryArguments, MemoryFilterArguments, MemoryType, NamedMemoryArguments};
pub use rules::{
    AcceptRuleArguments, EditRuleArguments, ExportRulesArguments, ImportRulesArguments, NamedRuleArguments,
    NewRuleArguments, ProposeRuleArguments, RulesArguments,
};
pub use task::{NamedTaskArguments, TaskAction, TaskArguments, TaskTextArguments};
pub use work::{ApproveArguments, NextArguments, SetArguments, StartArguments};
pub use workflows::{Drawing, WorkflowsAction, WorkflowsArguments};

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

    /// When to colour the output
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, hide_default_value = true)]
    pub color: Colour,
}

// Without comments on the values: with them, the parser prints every command's help in its long form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

const HOOK: &str = "\
Agents call this at every step: `linchpin install AGENT` writes it into their settings. It reads the agent's event as JSON \
from stdin, judges it by the rules in force, records it in the journal, and answers as that agent's protocol asks: JSON on \
stdout, or exit code 2 with the reason on stderr. It answers within the `deadline` of the configuration, whatever happens.

To see what it would say of a command, run `linchpin try 'COMMAND'`: that records nothing.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a policy into this project and install the hooks of your agents
    Init(InitArguments),
    /// Add Linchpin's hooks to an agent's settings
    Install(InstallArguments),
    /// Take Linchpin's hooks out of an agent's settings
    Uninstall(InstallArguments),
    /// Tell what is installed and in force, and what would make it ineffective
    Doctor,
    /// Accept what a repository's policy approves or switches off
    Trust(TrustArguments),
    /// Play a recorded session in a scratch repository, every verdict explained
    Demo,
    /// Print what lets your shell complete these commands
    Completions(CompletionsArguments),
    /// Judge one event from stdin: what agents call
    #[command(after_help = HOOK)]
    Hook {
        /// The agent that calls: `claude`, `codex`, `gemini`, `antigravity`, `cursor`, `copilot` or `opencode`
        #[arg(index = 1)]
        agent: String,
        /// The event, for agents whose payload does not name it
        #[arg(index = 2)]
        event: Option<String>,
    },
    /// Judge what changed by the file rules: for people, pre-commit and CI
    Check(CheckArguments),
    /// Acknowledge a rule that warns or holds, for one session
    Ack(AckArguments),
    /// Let one refused call through
    Allow(AllowArguments),
    /// Set the guard aside for a while
    Pause(PauseArguments),
    /// End a pause, or let a session go on that was asked to stop
    Resume(ResumeArguments),
    /// Check every policy file
    Validate(ValidateArguments),
    /// Run the cases that rules carry
    Test(TestArguments),
    /// Show the work behind a verdict, a pattern, an expression or a command
    Explain {
        #[command(subcommand)]
        what: ExplainArguments,
    },
    /// Tell what an agent would be told if it did this now; nothing is recorded
    Try(TryArguments),
    /// Judge the recorded history by the rules as they are now
    Replay(ReplayArguments),
    /// Show which rules there are and which are in force, and change them
    Rules {
        #[command(subcommand)]
        what: RulesArguments,
    },
    /// Show which workflows there are, and draw one
    Workflows(WorkflowsArguments),
    /// Write, check, show and draw the loop of this project
    Hats(HatsArguments),
    /// Show the journal
    Log(LogArguments),
    /// Begin a workflow
    Start(StartArguments),
    /// Say what is done, and move on
    Next(NextArguments),
    /// Go on past an interrupt: print the prompt, and count afresh
    Continue,
    /// Say yes to what waits for a person
    Approve(ApproveArguments),
    /// Show where the workflow stands, what is in force, and the session's state
    Status(StatusArguments),
    /// Give a variable of the workflow or of a session a new value
    Set(SetArguments),
    /// Print the prompt of the current phase again
    Repeat,
    /// Go back to the phase before this one
    Prev,
    /// Begin the workflow again
    Restart,
    /// Leave the workflow
    Abort,
    /// Drive agents through the loop of this project, or go on with a run
    Run(RunArguments),
    /// List the runs, show what one came to, end one
    Runs(RunsArguments),
    /// Ask a run to end after its iteration, or a session to stop
    Stop(StopArguments),
    /// Hand the work over: what agents in a run call
    Emit(EmitArguments),
    /// Say how far the work is: what agents in a run call
    Progress(ProgressArguments),
    /// Write down what is left to do, and how far it is
    Task(TaskArguments),
    /// Keep what was learnt, and find it again
    Memory(MemoryArguments),
}

#[derive(Debug, Args)]
pub struct InitArguments {
    /// Install the hooks of this agent (`claude`, `gemini`, …), found or not; may be repeated
    #[arg(long = "agent", value_name = "AGENT")]
    pub agents: Vec<String>,

    /// Write the policy only
    #[arg(long, conflicts_with = "agents")]
    pub no_hooks: bool,

    /// Have git run `linchpin check` before every commit
    #[arg(long)]
    pub pre_commit: bool,
}

// As clap words it, what goes with `--fix` reads like the opposite.
#[derive(Debug, Args)]
#[command(override_usage = "linchpin check [OPTIONS] [A..B]")]
pub struct CheckArguments {
    /// What these commits changed, `A..B`; left out, what the working tree has changed since its branch left the default branch
    #[arg(value_name = "A..B")]
    pub range: Option<String>,

    /// Compare the working tree with where it left this commit or branch
    #[arg(long, value_name = "REF", conflicts_with = "range")]
    pub base: Option<String>,

    /// What a commit that is made now would have changed, and not what else lies in the working tree
    #[arg(long, conflicts_with = "range")]
    pub staged: bool,

    /// Read the changes from a file, or `-`: lines of `M`, `A` or `D`, a tab, and a path; git is not asked
    #[arg(long, value_name = "FILE", conflicts_with_all = ["range", "base", "staged"])]
    pub changed_from: Option<String>,

    /// Judge this rule only; may be repeated
    #[arg(long = "rule", value_name = "ID")]
    pub rules: Vec<String>,

    /// Run the commands of rules that have one
    #[arg(long, conflicts_with_all = ["range", "changed_from", "staged"])]
    pub fix: bool,

    /// How the result is told
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people
    Text,
    /// As `--json`
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

    /// In your own settings, for every project
    #[arg(long, conflicts_with = "local")]
    pub user: bool,

    /// In this project's settings that are not committed
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

    /// Why it does not have to be followed this time
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: String,

    /// The session, if not the one this runs in or the last one
    #[arg(long)]
    pub session: Option<String>,

    /// Only print the line for a commit's message by which `check` knows of it
    #[arg(long, conflicts_with = "session")]
    pub trailer: bool,
}

#[derive(Debug, Args)]
pub struct AllowArguments {
    /// The number that the refusal names
    #[arg(value_parser = event_number)]
    pub id: i64,

    /// The next time it is made (the default)
    #[arg(long, conflicts_with = "session")]
    pub once: bool,

    /// Every time this session makes it
    #[arg(long)]
    pub session: bool,

    /// Allow without asking
    #[arg(long)]
    pub yes: bool,
}

/// The number of an event in the journal.
fn event_number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "it takes the number of an event, as `linchpin log` shows it".to_owned())
}

#[derive(Debug, Args)]
pub struct PauseArguments {
    /// For how long: `10m`, `2h`; `24h` at the most
    pub duration: String,

    /// Why; it is kept in the journal
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct ResumeArguments {
    /// Let this session go on, which `linchpin stop --session` asked to stop
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// A project other than this one
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
    #[arg(value_name = "COMMAND", required_unless_present_any = ["tool", "event"], allow_hyphen_values = true)]
    pub command: Option<String>,

    /// Another tool that it would call: `Write`, `apply_patch`, `mcp__SERVER__TOOL`, …
    #[arg(long, conflicts_with = "command")]
    pub tool: Option<String>,

    /// The file that the call is about
    #[arg(long, requires = "tool")]
    pub path: Option<PathBuf>,

    /// Something other than a call that it would do
    #[arg(long, value_enum, conflicts_with_all = ["command", "tool"])]
    pub event: Option<TriedEvent>,

    /// The agent, if not the one whose session this runs in or that was heard of last
    #[arg(long)]
    pub agent: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TriedEvent {
    Stop,
}

#[derive(Debug, Subcommand)]
pub enum ExplainArguments {
    /// Every rule's work on an event of the journal, by the rules as they are now and what was known then
    Event {
        /// Its number, as `log` shows it
        #[arg(value_parser = event_number)]
        id: i64,
    },
    /// Every rule's work on the last event that was not simply allowed
    Last,
    /// The simple commands that a shell command consists of
    Command {
        #[arg(allow_hyphen_values = true)]
        command: String,
    },
    /// Whether a pattern matches a path, and what it captures
    Pattern {
        #[arg(allow_hyphen_values = true)]
        pattern: String,
        #[arg(allow_hyphen_values = true)]
        path: String,
    },
    /// The value of an expression, as things are now: git, files, tasks, the last session's variables, the active workflow
    When {
        #[arg(allow_hyphen_values = true)]
        expression: String,
        /// What the names in it stand for, as a JSON object
        #[arg(long, value_name = "JSON")]
        with: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// Judge by the policy in this folder instead of the project's
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    /// Not older than this: `30m`, `2h`, `7d`, or a date and time
    #[arg(long)]
    pub since: Option<String>,
    #[arg(long)]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct LogArguments {
    #[command(subcommand)]
    pub action: Option<LogAction>,

    #[arg(long)]
    pub session: Option<String>,
    /// An event kind, such as `before_tool`
    #[arg(long)]
    pub kind: Option<String>,
    /// This verdict or a stricter one: `warn`, `ask` or `block`
    #[arg(long)]
    pub level: Option<String>,
    #[arg(long)]
    pub rule: Option<String>,
    /// Not older than this: `30m`, `2h`, `7d`, or a date and time
    #[arg(long)]
    pub since: Option<String>,
    /// How many at the most, the newest; 0: all
    #[arg(long, default_value_t = 20)]
    pub limit: usize,
    /// Go on with what is written from now on
    #[arg(short, long)]
    pub follow: bool,
}

#[derive(Debug, Subcommand)]
pub enum LogAction {
    /// Delete what is older than the configuration's `retention`
    Prune,
}

#[derive(Debug, Args)]
pub struct StatusArguments {
    /// The session, if not the one this runs in or the last one
    #[arg(long)]
    pub session: Option<String>,
    /// How often each rule fired, and what came of it, in all and by phase
    #[arg(long)]
    pub metrics: bool,
}
