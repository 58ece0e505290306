//! Events: what an agent did or is about to do, in one form for all agents.
//!
//! Adapters build events from the payloads of agents, so that later stages need not know the format of a payload.
//! Fields that an adapter does not understand are kept in [`Event::extra`] and are never an error.

use path::Access;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The canonical kinds of events. An agent's event without a canonical kind becomes [`EventKind::Other`].
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

    /// The name of this kind of event in rules, the journal and messages.
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

    /// True if the agent waits for permission before it continues. Only events of such kinds can be answered with
    /// `ask`.
    pub fn awaits_permission(self) -> bool {
        matches!(self, Self::BeforeTool | Self::Permission)
    }

    /// True if blocking the event keeps the agent working (a *hold*) instead of refusing an action.
    pub fn is_stop(self) -> bool {
        matches!(self, Self::Stop | Self::SubagentStop)
    }
}

/// A set of event kinds: the value of a rule's `on`.
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
    /// The agent's own name of the event, for example `PreToolUse`.
    pub name: String,
    /// The adapter that decoded the event: `claude`, `codex`, …
    pub agent: String,
    pub session: String,
    /// Arrival time in milliseconds since 1970. The engine has no other clock.
    pub time: i64,
    /// The working directory of the event's commands and relative paths. It is absolute if the event waits for
    /// permission: the payload of such an event is refused otherwise.
    pub cwd: String,
    /// The directories of the agent's session; empty if the payload does not distinguish them from `cwd`.
    // Journals of earlier versions have the field under this name.
    #[serde(rename = "session_folders", skip_serializing_if = "Vec::is_empty", default)]
    pub session_directories: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<ToolCall>,
    /// The outcome of the tool call; set only after the call ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<CallOutcome>,
    /// The person's prompt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt: Option<String>,
    /// The agent's last message, or the text of a notification.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// True if the agent is still working only because an earlier stop of the same turn was held.
    #[serde(default)]
    pub held_before: bool,
    /// True if a person only asks what the verdict would be. Such an event is not recorded.
    #[serde(skip)]
    pub is_dry_run: bool,
    /// The subagent in which the event occurred; `None` for the main agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subagent: Option<String>,
    /// Path of the agent's transcript.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transcript: Option<String>,
    /// Fields of the payload for which this struct has no other field, unchanged.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

impl Event {
    /// An event of unknown kind, with only the agent and the time.
    pub fn unknown(agent: &str, time: i64) -> Self {
        Self {
            kind: EventKind::Other,
            name: String::new(),
            agent: agent.to_owned(),
            session: String::new(),
            time,
            cwd: String::new(),
            session_directories: Vec::new(),
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
    /// The canonical name of the tool: the name that Claude Code uses (`Bash`, `Edit`, `mcp__server__tool`).
    pub name: String,
    /// Other names that rules can match: the agent's own name, and more canonical names if the call has several effects
    /// (a patch that changes one file and adds another file is an `Edit` and a `Write`).
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The agent's id of this call, the same in the events before and after the call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    pub input: Value,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<Value>,
    /// The script, if this is a shell call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shell: Option<ShellText>,
    /// The files that are named in the arguments of the call. Files that are named only in the script of a shell call
    /// are not listed, unless the script is a patch.
    #[serde(default)]
    pub files: Vec<FileAccess>,
    /// The MCP tools that the call reaches: the called tool and, if the called tool is a proxy, the tool that the proxy
    /// calls.
    #[serde(default)]
    pub mcp: Vec<McpTool>,
}

impl ToolCall {
    /// All names by which rules can match this call.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(String::as_str))
    }
}

/// The script of a shell call. `Missing` is not an empty script: it is unknown what the call would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellText {
    Command(String),
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAccess {
    /// An absolute path, or a path in the home directory (`~/…`), with `/` as the separator. The path is spelled as by
    /// the agent: `..` and symlinks are not resolved.
    pub path: String,
    /// How the call accesses the file; `None` if this is unknown.
    pub access: Option<Access>,
    /// True if the path is a glob, which stands for all files that it matches.
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
