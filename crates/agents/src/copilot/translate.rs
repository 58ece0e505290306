//! Copilot CLI's fields, tools and arguments.

use engine::EventKind;
use engine::event::{CallOutcome, ToolCall};
use serde_json::{Map, Value};

use crate::protocol::decode::{RawCall, parse_embedded_json};
use crate::protocol::{hold_echo, patch_call, tools};

/// Permission requests and the start of a subagent have camel-case fields.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("hookName", "hook_event_name"),
    ("sessionId", "session_id"),
    ("transcriptPath", "transcript_path"),
    ("toolName", "tool_name"),
    ("toolInput", "tool_input"),
    ("toolArgs", "tool_input"),
    ("tool_result", "tool_response"),
];

pub(super) fn adjust_payload(_: &str, kind: EventKind, fields: &mut Map<String, Value>) -> EventKind {
    parse_embedded_json(fields, "tool_input");
    // A subagent's events have the subagent's id as session id.
    let is_session = fields.get("agent_id").is_some() && fields.get("agent_id") == fields.get("session_id");
    if is_session && let Some(parent @ Value::String(_)) = fields.get("parent_agent_id").cloned() {
        fields.insert("session_id".to_owned(), parent);
        // The end of a subagent is reported as `Stop` and as `SubagentStop`; only the latter can be held.
        return if kind == EventKind::Stop { EventKind::Other } else { kind };
    }
    hold_echo::unless_hold_echo(kind, fields)
}

pub(super) fn convert_call(call: RawCall<'_>) -> ToolCall {
    let path = ("path", "file_path");
    match call.name.as_str() {
        "Bash" | "bash" => tools::renamed(call, "Bash"),
        "write_bash" | "write_powershell" => tools::terminal_input(call, "input"),
        "PowerShell" | "powershell" => tools::renamed(call, "PowerShell"),
        "Read" | "view" => tools::translated(call, "Read", &[path]),
        "Write" | "create" => tools::translated(call, "Write", &[path, ("file_text", "content")]),
        "Edit" | "edit" => tools::translated(call, "Edit", EDIT),
        // One tool for reading, writing and editing; its `command` says which.
        "str_replace_editor" => match call.input.get("command").and_then(Value::as_str) {
            Some("view") => tools::translated(call, "Read", &[path]),
            Some("create") => tools::translated(call, "Write", &[path, ("file_text", "content")]),
            _ => tools::translated(call, "Edit", EDIT),
        },
        "apply_patch" => patch_call::call(call),
        "grep" | "rg" => tools::renamed(call, "Grep"),
        "glob" => tools::renamed(call, "Glob"),
        "web_fetch" => tools::renamed(call, "WebFetch"),
        "Agent" | "task" => tools::renamed(call, "Task"),
        // Copilot's own tools contain neither a dash nor a slash.
        name => {
            let joined = name.to_owned();
            tools::possibly_mcp(call, &joined, &['-', '/'])
        }
    }
}

const EDIT: &[(&str, &str)] = &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")];

/// Copilot writes a command's exit code in the last line of its output.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let output = tool.output.as_ref()?;
    let text = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
    let failed = if tool.shell.is_some() {
        exit_code(text("text_result_for_llm")).is_some_and(|code| code != 0)
    } else {
        !matches!(text("result_type"), "" | "success") || tools::says_failed(output)
    };
    Some(CallOutcome::of(failed))
}

fn exit_code(output: &str) -> Option<i64> {
    let last = output.lines().next_back()?.strip_prefix("<shellId: ")?;
    last.rsplit_once("exit code ")?.1.strip_suffix('>')?.parse().ok()
}
