//! Converts Cursor's events, fields and tools to the canonical ones.

use engine::EventKind;
use engine::event::{CallOutcome, ToolCall};
use serde_json::{Map, Value, json};

use crate::protocol::decode::RawCall;
use crate::protocol::event_names::EventNames;
use crate::protocol::payload_fields::{OWN_TOOL_NAME, parse_embedded_json, take_string};
use crate::protocol::{hold_echo, patch_call, tools};

pub(super) const EVENTS: EventNames = &[
    ("sessionStart", EventKind::SessionStart),
    ("sessionEnd", EventKind::SessionEnd),
    ("beforeSubmitPrompt", EventKind::Prompt),
    ("preToolUse", EventKind::BeforeTool),
    ("beforeShellExecution", EventKind::BeforeTool),
    ("beforeMCPExecution", EventKind::BeforeTool),
    ("beforeReadFile", EventKind::BeforeTool),
    ("postToolUse", EventKind::AfterTool),
    ("postToolUseFailure", EventKind::ToolFailed),
    ("stop", EventKind::Stop),
    ("subagentStart", EventKind::SubagentStart),
    ("subagentStop", EventKind::SubagentStop),
    ("preCompact", EventKind::BeforeCompact),
    ("afterFileEdit", EventKind::FileChanged),
];

pub(super) const FIELDS: &[(&str, &str)] = &[
    ("conversation_id", "session_id"),
    ("subagent_id", "agent_id"),
    ("subagent_type", "agent_type"),
    ("summary", "last_assistant_message"),
    ("tool_output", "tool_response"),
    ("error_message", "error"),
];

pub(super) fn adjust_payload(event: &str, kind: EventKind, fields: &mut Map<String, Value>) -> EventKind {
    // The person's e-mail address is not needed, so it is not stored.
    fields.shift_remove("user_email");
    parse_embedded_json(fields, "tool_input");
    parse_embedded_json(fields, "tool_response");
    name_tool(event, fields);
    // A status other than `completed` means that the person interrupted the agent, or that the agent failed. Such a
    // stop must not be held.
    if kind == EventKind::Stop && fields.get("status").and_then(Value::as_str).is_some_and(|end| end != "completed") {
        return EventKind::Other;
    }
    let loops = fields.get("loop_count").and_then(Value::as_u64).unwrap_or_default();
    if kind.is_stop() && loops > 0 {
        fields.insert("stop_hook_active".to_owned(), Value::Bool(true));
    }
    hold_echo::kind_unless_hold_echo(kind, fields)
}

/// Sets `tool_name` and, if it is missing, `tool_input` in the payload of an older event for a single kind of tool,
/// such as `beforeShellExecution`. The payloads of other events do not change.
fn name_tool(event: &str, fields: &mut Map<String, Value>) {
    let (name, argument) = match event {
        "beforeShellExecution" => ("Shell".to_owned(), Some("command")),
        "beforeReadFile" => ("Read".to_owned(), Some("file_path")),
        "beforeMCPExecution" => {
            let own = take_string(fields, "tool_name").unwrap_or_default();
            fields.insert(OWN_TOOL_NAME.to_owned(), Value::String(own.clone()));
            (format!("{MCP}{own}"), None)
        }
        _ => return,
    };
    fields.insert("tool_name".to_owned(), Value::String(name));
    if let Some(argument) = argument {
        let value = fields.shift_remove(argument).unwrap_or_default();
        fields.insert("tool_input".to_owned(), json!({ argument: value }));
    }
    // `beforeReadFile` reports the contents of the file, which must not be stored.
    fields.shift_remove("content");
}

const MCP: &str = "MCP:";

/// The placeholder for the name of an MCP server. Cursor does not report that name.
pub(super) const UNKNOWN_SERVER: &str = "unknown";

pub(super) fn convert_call(call: RawCall<'_>) -> ToolCall {
    let (path, target) = (("path", "file_path"), ("target_file", "file_path"));
    if let Some(tool) = call.name.strip_prefix(MCP) {
        let name = format!("mcp__{UNKNOWN_SERVER}__{tool}");
        return tools::renamed(call, &name);
    }
    match call.name.as_str() {
        "Shell" | "run_terminal_cmd" => tools::renamed(call, "Bash"),
        "Write" => tools::translated(call, "Write", &[path, ("contents", "content")]),
        "StrReplace" | "search_replace" | "edit_file" => tools::translated(call, "Edit", &[path, target]),
        "ApplyPatch" | "apply_patch" => patch_call::call(call),
        "EditNotebook" | "edit_notebook" => {
            tools::translated(call, "NotebookEdit", &[("target_notebook", "notebook_path"), ("path", "notebook_path")])
        }
        "Read" | "ReadFile" | "read_file" => tools::translated(call, "Read", &[path, target]),
        "Delete" | "delete_file" => tools::as_deletion(tools::translated(call, "Write", &[path, target])),
        _ => tools::canonical(call),
    }
}

/// Cursor reports most failed calls by the event `postToolUseFailure`. If a command is reported by `postToolUse`, the
/// exit code in its output shows whether it failed.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let output = tool.output.as_ref()?;
    let code = ["exitCode", "exit_code"].into_iter().find_map(|key| output.get(key)?.as_i64());
    let failed = tools::has_error_flag(output) || code.is_some_and(|code| code != 0);
    Some(CallOutcome::of(failed))
}
