//! Cursor's events, fields and tools.

use engine::EventKind;
use engine::event::{Outcome, ToolCall};
use serde_json::{Map, Value, json};

use crate::protocol::decode::{RawCall, rename, take_string};
use crate::protocol::kinds::Names;
use crate::protocol::{patch, tools, wording};

pub(super) const EVENTS: Names = &[
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

pub(super) fn translate(kind: EventKind, fields: &mut Map<String, Value>) -> EventKind {
    rename(
        fields,
        &[
            ("conversation_id", "session_id"),
            ("subagent_id", "agent_id"),
            ("subagent_type", "agent_type"),
            ("summary", "last_assistant_message"),
            ("tool_output", "tool_response"),
            ("error_message", "error"),
        ],
    );
    // Who the person is, is nobody's business here.
    fields.shift_remove("user_email");
    for key in ["tool_input", "tool_response"] {
        // Sometimes a value, sometimes the text of one.
        if let Some(Value::String(text)) = fields.get(key)
            && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            fields.insert(key.to_owned(), value);
        }
    }
    if kind == EventKind::BeforeTool {
        name_tool(fields);
    }
    let loops = fields.get("loop_count").and_then(Value::as_u64).unwrap_or_default();
    if kind.is_stop() && loops > 0 {
        fields.insert("stop_hook_active".to_owned(), Value::Bool(true));
    }
    wording::unless_hold(kind, fields)
}

/// The older events are about one tool each, and do not name it.
fn name_tool(fields: &mut Map<String, Value>) {
    let has_name = fields.contains_key("tool_name");
    let is_server = fields.contains_key("url") || (has_name && fields.contains_key("command"));
    let (name, input) = if is_server {
        (format!("{MCP}{}", take_string(fields, "tool_name").unwrap_or_default()), None)
    } else if has_name {
        return;
    } else if let Some(command) = take_string(fields, "command") {
        ("Shell".to_owned(), Some(json!({ "command": command })))
    } else if let Some(path) = take_string(fields, "file_path") {
        fields.shift_remove("content");
        ("Read".to_owned(), Some(json!({ "file_path": path })))
    } else {
        return;
    };
    fields.insert("tool_name".to_owned(), Value::String(name));
    if let Some(input) = input {
        fields.insert("tool_input".to_owned(), input);
    }
}

const MCP: &str = "MCP:";

/// Which server an MCP tool is of, Cursor does not tell.
pub(super) const UNKNOWN_SERVER: &str = "unknown";

pub(super) fn tool(call: RawCall<'_>) -> ToolCall {
    let (path, target) = (("path", "file_path"), ("target_file", "file_path"));
    if let Some(tool) = call.name.strip_prefix(MCP) {
        let name = format!("mcp__{UNKNOWN_SERVER}__{tool}");
        return tools::translated(call, &name, &[]);
    }
    match call.name.as_str() {
        "Shell" | "run_terminal_cmd" => tools::translated(call, "Bash", &[]),
        "Write" => tools::translated(call, "Write", &[path, ("contents", "content")]),
        "StrReplace" | "search_replace" | "edit_file" => tools::translated(call, "Edit", &[path, target]),
        "ApplyPatch" | "apply_patch" => patch::call(call),
        "EditNotebook" | "edit_notebook" => {
            tools::translated(call, "NotebookEdit", &[("target_notebook", "notebook_path"), ("path", "notebook_path")])
        }
        "Read" | "ReadFile" | "read_file" => tools::translated(call, "Read", &[path, target]),
        "Delete" | "delete_file" => tools::deleting(tools::translated(call, "Write", &[path, target])),
        _ => tools::canonical(&call.name, call.input, call.cwd),
    }
}

/// A call that failed comes as an event of its own; a command says how it ended.
pub(super) fn outcome(tool: &ToolCall) -> Option<Outcome> {
    let output = tool.output.as_ref()?;
    let code = ["exitCode", "exit_code"].into_iter().find_map(|key| output.get(key)?.as_i64());
    let failed = tools::says_failed(output) || code.is_some_and(|code| code != 0);
    Some(if failed { Outcome::Failed } else { Outcome::Ok })
}
