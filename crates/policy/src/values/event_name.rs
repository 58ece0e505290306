//! Names of events, and suggestions for unknown ones.

use engine::event::EventKind;
use engine::suggest;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::source::Source;

pub fn event_names() -> Vec<&'static str> {
    EventKind::ALL.map(EventKind::name).to_vec()
}

pub fn refuse_event(name: SpannedText, fields: &mut Fields) {
    let problem = unknown_event(name, fields.source());
    fields.problems.push(problem);
}

pub fn unknown_event(name: SpannedText, source: &Source) -> Diagnostic {
    let event_names = event_names();
    let from_agent = AGENT_EVENTS.iter().find(|(event, _)| *event == name.value).map(|(_, kind)| *kind);
    // Gobby prefixes event names with `on_`.
    let without_on =
        name.value.strip_prefix("on_").and_then(|name| event_names.iter().copied().find(|known| *known == name));
    let help = from_agent
        .or(without_on)
        .or_else(|| suggest::closest(&name.value, event_names.iter().copied()))
        .map_or_else(|| format!("known events: {}", event_names.join(", ")), suggest::did_you_mean);
    let message = format!("unknown event `{}`", name.value);
    Diagnostic::error(DiagnosticKind::UnknownEvent, message, source, Some(name.span)).help(help)
}

/// Event names in agents' settings, and Linchpin's names for them.
const AGENT_EVENTS: &[(&str, &str)] = &[
    ("Notification", "notification"),
    ("PermissionRequest", "permission"),
    ("PostCompact", "after_compact"),
    ("PostToolUse", "after_tool"),
    ("PostToolUseFailure", "tool_failed"),
    ("PreCompact", "before_compact"),
    ("PreToolUse", "before_tool"),
    ("SessionEnd", "session_end"),
    ("SessionStart", "session_start"),
    ("Stop", "stop"),
    ("SubagentStart", "subagent_start"),
    ("SubagentStop", "subagent_stop"),
    ("UserPromptSubmit", "prompt"),
];

pub fn has_tool_call(kind: EventKind) -> bool {
    matches!(kind, EventKind::BeforeTool | EventKind::AfterTool | EventKind::ToolFailed | EventKind::Permission)
}
