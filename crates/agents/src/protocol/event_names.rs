//! Agents' names of events, and the kinds of events that they mean.

use engine::EventKind;

/// An agent's names of events, with their kinds. Other names mean [`EventKind::Other`]. A name whose payload determines
/// the kind is listed once for each kind; the first one is the default.
pub(crate) type EventNames = &'static [(&'static str, EventKind)];

/// The names of Claude Code and compatible agents. Not every agent has all of them.
pub(crate) const FAMILY: EventNames = &[
    ("SessionStart", EventKind::SessionStart),
    ("SessionEnd", EventKind::SessionEnd),
    ("UserPromptSubmit", EventKind::Prompt),
    ("PreToolUse", EventKind::BeforeTool),
    ("PostToolUse", EventKind::AfterTool),
    ("PostToolUseFailure", EventKind::ToolFailed),
    ("PermissionRequest", EventKind::Permission),
    ("Stop", EventKind::Stop),
    ("SubagentStart", EventKind::SubagentStart),
    ("SubagentStop", EventKind::SubagentStop),
    ("PreCompact", EventKind::BeforeCompact),
    ("PostCompact", EventKind::AfterCompact),
    ("Notification", EventKind::Notification),
    ("FileChanged", EventKind::FileChanged),
    ("TaskCompleted", EventKind::TaskCompleted),
];

/// Returns an event's name in the agent's spelling, and its kind. Ignores case: agents that read each other's settings
/// differ in it.
pub(crate) fn name_and_kind(names: EventNames, name: &str) -> (String, EventKind) {
    let found = names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map_or_else(|| (name.to_owned(), EventKind::Other), |(known, kind)| ((*known).to_owned(), *kind))
}

/// Returns every kind that an event of this name may be of.
pub(crate) fn kinds_of(names: EventNames, name: &str) -> impl Iterator<Item = EventKind> {
    names.iter().filter(move |(known, _)| *known == name).map(|(_, kind)| *kind)
}
