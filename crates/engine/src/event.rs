//! An event: something an agent did or is about to do, in one shape for all agents.
//!
//! Adapters build events; nothing after them knows which agent's payload one came from. What an adapter does not
//! understand is kept in [`Event::extra`] and never fails.

use path::Access;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The canonical kinds. An agent's own event name that has no kind here becomes [`EventKind::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    SessionStart,
    SessionEnd,
    Prompt,
    BeforeTool,
    AfterTool,
    ToolFailed,
    Permission,
    Stop,
    SubagentStart,
    SubagentStop,
    BeforeCompact,
    AfterCompact,
    Notification,
    FileChanged,
    TaskCompleted,
    Other,
}

impl EventKind {
    pub const ALL: [Self; 16] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::Prompt,
        Self::BeforeTool,
        Self::AfterTool,
        Self::ToolFailed,
        Self::Permission,
        Self::Stop,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::BeforeCompact,
        Self::AfterCompact,
        Self::Notification,
        Self::FileChanged,
        Self::TaskCompleted,
        Self::Other,
    ];

    /// The name used in rules, in the journal and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::SessionEnd => "session_end",
            Self::Prompt => "prompt",
            Self::BeforeTool => "before_tool",
            Self::AfterTool => "after_tool",
            Self::ToolFailed => "tool_failed",
            Self::Permission => "permission",
            Self::Stop => "stop",
            Self::SubagentStart => "subagent_start",
            Self::SubagentStop => "subagent_stop",
            Self::BeforeCompact => "before_compact",
            Self::AfterCompact => "after_compact",
            Self::Notification => "notification",
            Self::FileChanged => "file_changed",
            Self::TaskCompleted => "task_completed",
            Self::Other => "other",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the agent waits for a yes or no before it goes on. Only such an event can be asked about.
    pub fn awaits_permission(self) -> bool {
        matches!(self, Self::BeforeTool | Self::Permission)
    }

    /// Whether a block keeps the agent at work instead of refusing something: a *hold*.
    pub fn is_stop(self) -> bool {
        matches!(self, Self::Stop | Self::SubagentStop)
    }
}

/// A set of event kinds: what a rule's `on` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EventKinds(u32);

impl EventKinds {
    pub fn contains(self, kind: EventKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    #[must_use]
    pub fn with(self, kind: EventKind) -> Self {
        Self(self.0 | 1 << kind as u32)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<EventKind> for EventKinds {
    fn from_iter<I: IntoIterator<Item = EventKind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::default(), Self::with)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub kind: EventKind,
    /// The agent's own name of the event, such as `PreToolUse`.
    pub name: String,
    /// Which adapter decoded it: `claude`, `codex`, …
    pub agent: String,
    pub session: String,
    /// When it arrived, in milliseconds since 1970. The only clock that judging knows.
    pub time: i64,
    /// The folder that relative paths and commands of this event start from; absolute.
    pub cwd: String,
    /// The folders that the agent's session belongs to, where the payload tells them apart from `cwd`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub session_folders: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<ToolCall>,
    /// How the tool call went; only after it ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<CallOutcome>,
    /// What the person wrote.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt: Option<String>,
    /// What the agent last said, or the text of a notification.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The agent goes on only because an earlier stop of the same turn was held.
    #[serde(default)]
    pub held_before: bool,
    /// Nothing happens: somebody asks what the verdict would be, and no trace of the question is kept.
    #[serde(skip)]
    pub is_dry_run: bool,
    /// The subagent that acts, where it is not the main agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subagent: Option<String>,
    /// Where the agent keeps its transcript.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transcript: Option<String>,
    /// Fields of the payload that have no place above, as they came.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

impl Event {
    /// An event of which nothing is known but who sent it and when.
    pub fn unnamed(agent: &str, time: i64) -> Self {
        Self {
            kind: EventKind::Other,
            name: String::new(),
            agent: agent.to_owned(),
            session: String::new(),
            time,
            cwd: String::new(),
            session_folders: Vec::new(),
            tool: None,
            outcome: None,
            prompt: None,
            message: None,
            held_before: false,
            is_dry_run: false,
            subagent: None,
            transcript: None,
            extra: Map::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Ok,
    Failed,
}

impl CallOutcome {
    pub fn of(failed: bool) -> Self {
        if failed { Self::Failed } else { Self::Ok }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolCall {
    /// The canonical name: Claude Code's (`Bash`, `Edit`, `mcp__server__tool`).
    pub name: String,
    /// Other names under which rules find this call: the agent's own, and the canonical names of further parts
    /// (a patch that adds one file and changes another is an `Edit` and a `Write`).
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The agent's id of this call; the same before and after it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    pub input: Value,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<Value>,
    /// What a shell would be given, where this is a shell call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shell: Option<ShellText>,
    /// The files that the call itself names, absolute.
    #[serde(default)]
    pub files: Vec<FileAccess>,
    /// The MCP tools that the call reaches: its own, and the one it is a proxy for.
    #[serde(default)]
    pub mcp: Vec<McpTool>,
}

impl ToolCall {
    /// Every name under which a rule may mean this call.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(String::as_str))
    }
}

/// The text of a shell call. A call of a shell tool that carries no text is not the same as one with empty text:
/// nobody can say what it would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellText {
    Command(String),
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAccess {
    /// Absolute, or from the home folder (`~/…`), with `/`. As it was named: neither `..` nor links are followed here.
    pub path: String,
    /// `None`: who knows what for.
    pub access: Option<Access>,
    /// The path stands for all that it matches, at any depth where it says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pattern: bool,
}

impl FileAccess {
    pub fn new(path: String, access: Access) -> Self {
        Self { path, access: Some(access), is_pattern: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpTool {
    pub server: String,
    pub tool: String,
}
