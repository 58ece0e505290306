//! The event names of Claude Code and those who follow it, and their canonical kinds.

use engine::EventKind;

/// The kind of an event that agents of this family call the same; not each of them has all.
pub(crate) fn kind(event: &str) -> EventKind {
    match event {
        "SessionStart" => EventKind::SessionStart,
        "SessionEnd" => EventKind::SessionEnd,
        "UserPromptSubmit" => EventKind::Prompt,
        "PreToolUse" => EventKind::BeforeTool,
        "PostToolUse" => EventKind::AfterTool,
        "PostToolUseFailure" => EventKind::ToolFailed,
        "PermissionRequest" => EventKind::Permission,
        "Stop" => EventKind::Stop,
        "SubagentStart" => EventKind::SubagentStart,
        "SubagentStop" => EventKind::SubagentStop,
        "PreCompact" => EventKind::BeforeCompact,
        "PostCompact" => EventKind::AfterCompact,
        "Notification" => EventKind::Notification,
        "FileChanged" => EventKind::FileChanged,
        "TaskCompleted" => EventKind::TaskCompleted,
        _ => EventKind::Other,
    }
}
