//! The event names of the family, and their canonical kinds.

use engine::EventKind;

/// The kind of an event that all agents of this family call the same.
pub(crate) fn kind(event: &str) -> EventKind {
    match event {
        "SessionStart" => EventKind::SessionStart,
        "SessionEnd" => EventKind::SessionEnd,
        "UserPromptSubmit" => EventKind::Prompt,
        "PreToolUse" => EventKind::BeforeTool,
        "PostToolUse" => EventKind::AfterTool,
        "PermissionRequest" => EventKind::Permission,
        "Stop" => EventKind::Stop,
        "SubagentStart" => EventKind::SubagentStart,
        "SubagentStop" => EventKind::SubagentStop,
        "PreCompact" => EventKind::BeforeCompact,
        "PostCompact" => EventKind::AfterCompact,
        _ => EventKind::Other,
    }
}
