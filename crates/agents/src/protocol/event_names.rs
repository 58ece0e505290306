//! Agents' names of events, and the kinds of events that they mean.

use engine::EventKind;

/// An agent's names of events, with their kinds. Names that are not listed mean [`EventKind::Other`]. If only the
/// payload of an event shows its kind, the event's name is listed once for each kind, and the first kind is the
/// default.
pub(crate) type EventNames = &'static [(&'static str, EventKind)];

/// Claude Code's names of events. Compatible agents use the same names, but not every agent has all these events.
pub(crate) const CANONICAL: EventNames = &[
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

/// Returns an event's name in the agent's spelling, and the event's default kind. Ignores case, because agents that
/// read each other's settings capitalize the names differently.
pub(crate) fn name_and_kind(names: EventNames, name: &str) -> (String, EventKind) {
    let found = names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map_or_else(|| (name.to_owned(), EventKind::Other), |(known, kind)| ((*known).to_owned(), *kind))
}

/// Returns every kind that an event of this name can have.
pub(crate) fn kinds_of(names: EventNames, name: &str) -> impl Iterator<Item = EventKind> {
    names.iter().filter(move |(known, _)| *known == name).map(|(_, kind)| *kind)
}
