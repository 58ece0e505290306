//! Cursor's events, fields and tools.

use engine::EventKind;
use engine::event::{Access, Outcome, ToolCall};
use serde_json::{Map, Value, json};

use crate::protocol::decode::{RawCall, rename, take_string};
use crate::protocol::{paths, tools};

pub(super) fn kind(event: &str) -> EventKind {
    match event {
        "sessionStart" => EventKind::SessionStart,
        "sessionEnd" => EventKind::SessionEnd,
        "beforeSubmitPrompt" => EventKind::Prompt,
        "preToolUse" | "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" => EventKind::BeforeTool,
        "postToolUse" => EventKind::AfterTool,
        "postToolUseFailure" => EventKind::ToolFailed,
        "stop" => EventKind::Stop,
        "subagentStart" => EventKind::SubagentStart,
        "subagentStop" => EventKind::SubagentStop,
        "preCompact" => EventKind::BeforeCompact,
        "afterFileEdit" => EventKind::FileChanged,
        _ => EventKind::Other,
    }
}

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
    // The folder of a command may be empty, which means the project's.
    if fields.get("cwd").and_then(Value::as_str).unwrap_or_default().is_empty()
        && let Some(root @ Value::String(_)) = fields.get("workspace_roots").and_then(|roots| roots.get(0)).cloned()
    {
        fields.insert("cwd".to_owned(), root);
    }
    if let Some(folder) = fields.get("tool_input").and_then(|input| input.get("working_directory")?.as_str()) {
        let folder = paths::absolute(fields.get("cwd").and_then(Value::as_str).unwrap_or_default(), folder);
        fields.insert("cwd".to_owned(), Value::String(folder));
    }
    let loops = fields.get("loop_count").and_then(Value::as_u64).unwrap_or_default();
    if kind.is_stop() && loops > 0 {
        fields.insert("stop_hook_active".to_owned(), Value::Bool(true));
    }
    kind
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
const ANY_SERVER: &str = "unknown";

pub(super) fn tool(call: RawCall<'_>) -> ToolCall {
    let path = ("path", "file_path");
    if let Some(tool) = call.name.strip_prefix(MCP) {
        let name = format!("mcp__{ANY_SERVER}__{tool}");
        return tools::translated(call, &name, &[]);
    }
    match call.name.as_str() {
        "Shell" => tools::translated(call, "Bash", &[]),
        "Write" => tools::translated(call, "Write", &[path, ("contents", "content")]),
        "StrReplace" => tools::translated(call, "Edit", &[path]),
        "Read" => tools::translated(call, "Read", &[path]),
        "Delete" => {
            let mut tool = tools::translated(call, "Write", &[path]);
            for file in &mut tool.files {
                file.access = Some(Access::Delete);
            }
            tool
        }
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
