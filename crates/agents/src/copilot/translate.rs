//! Converts Copilot CLI's fields, tools and arguments to the canonical ones.

use engine::EventKind;
use engine::event::{CallOutcome, ToolCall};
use serde_json::{Map, Value};

use crate::protocol::decode::RawCall;
use crate::protocol::payload_fields::parse_embedded_json;
use crate::protocol::{hold_echo, patch_call, tools};

/// Copilot's names of payload fields, each with the canonical name. The camel-case names occur in permission requests
/// and at the start of a subagent.
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
    let is_subagent_event = fields.get("agent_id").is_some() && fields.get("agent_id") == fields.get("session_id");
    if is_subagent_event && let Some(parent @ Value::String(_)) = fields.get("parent_agent_id").cloned() {
        fields.insert("session_id".to_owned(), parent);
        // Copilot reports the end of a subagent twice, as `Stop` and as `SubagentStop`. The subagent can be held only
        // at `SubagentStop`.
        return if kind == EventKind::Stop { EventKind::Other } else { kind };
    }
    hold_echo::kind_unless_hold_echo(kind, fields)
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
        // The argument `command` of this tool says whether the tool reads, writes or edits a file.
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
        // A name with a dash or a slash may be that of an MCP tool, because the names of Copilot's own tools contain
        // neither.
        name => {
            let joined = name.to_owned();
            tools::possibly_mcp(call, &joined, &['-', '/'])
        }
    }
}

const EDIT: &[(&str, &str)] = &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")];

/// A command has failed if its exit code is not 0. Copilot writes the exit code in the last line of the command's
/// output. Other calls have a `result_type`.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let output = tool.output.as_ref()?;
    let text = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
    let failed = if tool.shell.is_some() {
        exit_code(text("text_result_for_llm")).is_some_and(|code| code != 0)
    } else {
        !matches!(text("result_type"), "" | "success") || tools::has_error_flag(output)
    };
    Some(CallOutcome::of(failed))
}

fn exit_code(output: &str) -> Option<i64> {
    let last = output.lines().next_back()?.strip_prefix("<shellId: ")?;
    last.rsplit_once("exit code ")?.1.strip_suffix('>')?.parse().ok()
}
