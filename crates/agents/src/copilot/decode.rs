//! Copilot CLI's fields, tools and arguments.

use engine::EventKind;
use engine::event::{Outcome, ToolCall};
use serde_json::{Map, Value};

use crate::protocol::decode::{RawCall, rename};
use crate::protocol::{patch, tools, wording};

pub(super) fn translate(kind: EventKind, fields: &mut Map<String, Value>) -> EventKind {
    // Permission requests and the start of a subagent come as they are called in lower case.
    rename(
        fields,
        &[
            ("sessionId", "session_id"),
            ("transcriptPath", "transcript_path"),
            ("toolName", "tool_name"),
            ("toolInput", "tool_input"),
            ("toolArgs", "tool_input"),
            ("tool_result", "tool_response"),
        ],
    );
    if let Some(Value::String(text)) = fields.get("tool_input")
        && let Ok(input @ Value::Object(_)) = serde_json::from_str(text)
    {
        fields.insert("tool_input".to_owned(), input);
    }
    // A subagent goes by its own id as if it were a session.
    let is_session = fields.get("agent_id").is_some() && fields.get("agent_id") == fields.get("session_id");
    if is_session && let Some(parent @ Value::String(_)) = fields.get("parent_agent_id").cloned() {
        fields.insert("session_id".to_owned(), parent);
        // The end of a subagent is told twice, and this is not the telling that can be held.
        return if kind == EventKind::Stop { EventKind::Other } else { kind };
    }
    wording::unless_hold(kind, fields)
}

pub(super) fn tool(call: RawCall<'_>) -> ToolCall {
    let path = ("path", "file_path");
    match call.name.as_str() {
        "Bash" | "bash" => tools::translated(call, "Bash", &[]),
        "PowerShell" | "powershell" => tools::translated(call, "PowerShell", &[]),
        "Read" | "view" => tools::translated(call, "Read", &[path]),
        "Write" | "create" => tools::translated(call, "Write", &[path, ("file_text", "content")]),
        "Edit" | "edit" => {
            tools::translated(call, "Edit", &[path, ("old_str", "old_string"), ("new_str", "new_string")])
        }
        "apply_patch" => {
            let text = |input: &Value| {
                let named = ["input", "patch", "command"].into_iter().find_map(|key| input.get(key)?.as_str());
                input.as_str().or(named).unwrap_or_default().to_owned()
            };
            let text = text(&call.input);
            patch::call(call, &text)
        }
        "grep" => tools::translated(call, "Grep", &[]),
        "glob" => tools::translated(call, "Glob", &[]),
        "web_fetch" => tools::translated(call, "WebFetch", &[]),
        "Agent" | "task" => tools::translated(call, "Task", &[]),
        _ => mcp_or_own(call),
    }
}

/// The name of an MCP tool is the server's and its own with a dash or a slash between them, and either may have dashes of
/// its own: where they part is not said, so it is found under each way to part them. Copilot's own tools have none.
fn mcp_or_own(call: RawCall<'_>) -> ToolCall {
    let parts = call.name.char_indices().filter(|(_, letter)| matches!(letter, '-' | '/'));
    let names: Vec<String> = parts
        .filter_map(|(at, letter)| {
            let (server, tool) = (call.name.get(..at)?, call.name.get(at + letter.len_utf8()..)?);
            (!server.is_empty() && !tool.is_empty()).then(|| format!("mcp__{server}__{tool}"))
        })
        .collect();
    let Some((first, others)) = names.split_first() else {
        return tools::canonical(&call.name, call.input, call.cwd);
    };
    let mut tool = tools::renamed(call.name, first, call.input.clone(), call.cwd);
    for other in others {
        tool.mcp.extend(tools::canonical(other, call.input.clone(), call.cwd).mcp);
        tool.aliases.push(other.clone());
    }
    tool
}

/// A command's exit code is in the last line of its output, which Copilot writes.
pub(super) fn outcome(tool: &ToolCall) -> Option<Outcome> {
    let output = tool.output.as_ref()?;
    let text = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
    let failed = if tool.shell.is_some() {
        exit_code(text("text_result_for_llm")).is_some_and(|code| code != 0)
    } else {
        !matches!(text("result_type"), "" | "success") || tools::says_failed(output)
    };
    Some(if failed { Outcome::Failed } else { Outcome::Ok })
}

fn exit_code(output: &str) -> Option<i64> {
    let last = output.lines().next_back()?.strip_prefix("<shellId: ")?;
    last.rsplit_once("exit code ")?.1.strip_suffix('>')?.parse().ok()
}
