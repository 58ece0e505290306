//! The command line.

mod hats;
pub mod help;
mod loops;
mod memory;
mod rules;
mod task;
mod work;
mod workflows;

pub use hats::{GraphFormat, Hats, HatsAction};
pub use loops::{Emit, Progress, Run, Runs, RunsAction, Stop};
pub use memory::{Memory, MemoryAction, MemoryType, NamedMemory, WhichMemories};
pub use rules::{AcceptRule, EditRule, ExportRules, ImportRules, NamedRule, NewRule, ProposeRule, Rules};
pub use task::{NamedTask, Task, TaskAction, TaskWords};
pub use work::{Approve, Next, Set, Start};
pub use workflows::{Drawing, Workflows, WorkflowsAction};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Keeps the wheels on your coding agents.
#[derive(Debug, Parser)]
#[command(name = "linchpin", version, disable_help_subcommand = true)]
pub struct Arguments {
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
    Init(Init),
    /// Add Linchpin's hooks to an agent's settings
    Install(Install),
    /// Take Linchpin's hooks out of an agent's settings
    Uninstall(Install),
    /// Tell what is installed and in force, and what would make it ineffective
    Doctor,
    /// Accept what a repository's policy approves or switches off
    Trust(Trust),
    /// Play a recorded session in a scratch repository, every verdict explained
    Demo,
    /// Print what lets your shell complete these commands
    Completions(Completions),
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
    Check(Check),
    /// Acknowledge a rule that warns or holds, for one session
    Ack(Ack),
    /// Let one refused call through
    Allow(Allow),
    /// Set the guard aside for a while
    Pause(Pause),
    /// End a pause, or let a session go on that was asked to stop
    Resume(Resume),
    /// Check every policy file
    Validate(Validate),
    /// Run the cases that rules carry
    Test(Test),
    /// Show the work behind a verdict, a pattern, an expression or a command
    Explain {
        #[command(subcommand)]
        what: Explain,
    },
    /// Tell what an agent would be told if it did this now; nothing is recorded
    Try(Try),
    /// Judge the recorded history by the rules as they are now
    Replay(Replay),
    /// Show which rules there are and which are in force, and change them
    Rules {
        #[command(subcommand)]
        what: Rules,
    },
    /// Show which workflows there are, and draw one
    Workflows(Workflows),
    /// Write, check, show and draw the loop of this project
    Hats(Hats),
    /// Show the journal
    Log(Log),
    /// Begin a workflow
    Start(Start),
    /// Say what is done, and move on
    Next(Next),
    /// Go on past an interrupt: print the prompt, and count afresh
    Continue,
    /// Say yes to what waits for a person
    Approve(Approve),
    /// Show where the workflow stands, what is in force, and the session's state
    Status(Status),
    /// Give a variable of the workflow or of a session a new value
    Set(Set),
    /// Print the prompt of the current phase again
    Repeat,
    /// Go back to the phase before this one
    Prev,
    /// Begin the workflow again
    Restart,
    /// Leave the workflow
    Abort,
    /// Drive agents through the loop of this project, or go on with a run
    Run(Run),
    /// List the runs, show what one came to, end one
    Runs(Runs),
    /// Ask a run to end after its iteration, or a session to stop
    Stop(Stop),
    /// Hand the work over: what agents in a run call
    Emit(Emit),
    /// Say how far the work is: what agents in a run call
    Progress(Progress),
    /// Write down what is left to do, and how far it is
    Task(Task),
    /// Keep what was learnt, and find it again
    Memory(Memory),
}

#[derive(Debug, Args)]
pub struct Init {
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
pub struct Check {
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
pub struct Install {
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
pub struct Trust {
    /// Accept without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct Completions {
    pub shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Args)]
pub struct Ack {
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
pub struct Allow {
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
pub struct Pause {
    /// For how long: `10m`, `2h`; `24h` at the most
    pub duration: String,

    /// Why; it is kept in the journal
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct Resume {
    /// Let this session go on, which `linchpin stop --session` asked to stop
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct Validate {
    /// A project other than this one
    pub project: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Test {
    /// Only the cases of these rules
    #[arg(value_name = "RULE")]
    pub rules: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "linchpin try [OPTIONS] <COMMAND>\n       linchpin try [OPTIONS] --tool <TOOL> [--path <PATH>]\n       \
    linchpin try [OPTIONS] --event stop"
)]
pub struct Try {
    /// A shell command that the agent would run
    #[arg(value_name = "COMMAND", required_unless_present_any = ["tool", "event"], allow_hyphen_values = true)]
    pub command: Option<String>,

    /// Another tool that it would call: `Write`, `Edit`, `Read`, `mcp__SERVER__TOOL`, …
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
pub enum Explain {
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
pub struct Replay {
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
pub struct Log {
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
pub struct Status {
    /// The session, if not the one this runs in or the last one
    #[arg(long)]
    pub session: Option<String>,
    /// How often each rule fired, and what came of it, in all and by phase
    #[arg(long)]
    pub metrics: bool,
}
