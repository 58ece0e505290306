//! The names that agents have for their events, and the canonical kinds of those.

use engine::EventKind;

/// An agent's own names of events. Agents call only those that `install` names; one that is not here is no kind of ours. One
/// whose payload says which of several kinds it is, is here for each; the first is that of a payload that does not.
pub(crate) type Names = &'static [(&'static str, EventKind)];

/// The names of Claude Code and those who follow it; not each of them has all.
pub(crate) const FAMILY: Names = &[
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

/// An event's name as the agent spells it, and its kind. Capital letters make no other event of it: agents that read each
/// other's settings differ in them.
pub(crate) fn known(names: Names, name: &str) -> (String, EventKind) {
    let found = names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map_or_else(|| (name.to_owned(), EventKind::Other), |(known, kind)| ((*known).to_owned(), *kind))
}

/// Every kind that an event of this name comes to.
pub(crate) fn all(names: Names, name: &str) -> impl Iterator<Item = EventKind> {
    names.iter().filter(move |(known, _)| *known == name).map(|(_, kind)| *kind)
}
