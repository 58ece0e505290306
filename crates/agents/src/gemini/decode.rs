//! Gemini CLI's names of events, tools and arguments.

use engine::EventKind;
use engine::event::{CallOutcome, FileAccess, ToolCall};
use path::Access;
use serde_json::{Map, Value};

use crate::protocol::decode::{OWN_TOOL_NAME, RawCall, count_holds_for_the_session, rename};
use crate::protocol::kinds::Names;
use crate::protocol::{hold, paths, tools};

pub(super) const EVENTS: Names = &[
    ("SessionStart", EventKind::SessionStart),
    ("SessionEnd", EventKind::SessionEnd),
    ("BeforeAgent", EventKind::Prompt),
    ("BeforeTool", EventKind::BeforeTool),
    ("AfterTool", EventKind::AfterTool),
    ("AfterAgent", EventKind::Stop),
    ("PreCompress", EventKind::BeforeCompact),
    ("Notification", EventKind::Notification),
];

pub(super) fn translate(_: &str, kind: EventKind, fields: &mut Map<String, Value>) -> EventKind {
    if kind == EventKind::Stop {
        // What was asked for at the start of the turn is nothing that the person writes now.
        rename(fields, &[("prompt_response", "last_assistant_message"), ("prompt", "turn_prompt")]);
        // It says so, but forgets it as soon as the agent calls a tool.
        count_holds_for_the_session(fields);
    }
    if let Some(name) = mcp_tool(fields)
        && let Some(own) = fields.insert("tool_name".to_owned(), Value::String(name))
    {
        fields.insert(OWN_TOOL_NAME.to_owned(), own);
    }
    hold::unless_hold(kind, fields)
}

/// The name of an MCP tool is written without a visible end of the server's; beside it both are told.
fn mcp_tool(fields: &Map<String, Value>) -> Option<String> {
    let context = fields.get("mcp_context")?;
    let text = |key: &str| context.get(key)?.as_str();
    Some(format!("mcp__{}__{}", text("server_name")?, text("tool_name")?))
}

pub(super) fn tool(call: RawCall<'_>) -> ToolCall {
    let folder = ("dir_path", "path");
    match call.name.as_str() {
        "run_shell_command" => tools::renamed(call, "Bash"),
        "write_file" => tools::renamed(call, "Write"),
        "replace" | "edit" => tools::renamed(call, "Edit"),
        "read_file" => tools::renamed(call, "Read"),
        "read_many_files" => read_many(call),
        "glob" => tools::translated(call, "Glob", &[folder]),
        "grep_search" | "search_file_content" => {
            tools::translated(call, "Grep", &[folder, ("include_pattern", "glob"), ("include", "glob")])
        }
        "list_directory" => tools::translated(call, "LS", &[folder]),
        "web_fetch" => tools::renamed(call, "WebFetch"),
        "google_web_search" => tools::renamed(call, "WebSearch"),
        "invoke_agent" => tools::renamed(call, "Task"),
        _ => tools::canonical(call),
    }
}

/// Paths and patterns, all to be read.
fn read_many(call: RawCall<'_>) -> ToolCall {
    let named = ["include", "paths"].into_iter().filter_map(|key| call.input.get(key)?.as_array()).flatten();
    let access = |path: &str| FileAccess {
        is_pattern: path.contains(['*', '?', '[', '{']),
        ..FileAccess::new(paths::absolute(call.cwd, path), Access::Read)
    };
    let files: Vec<FileAccess> = named.filter_map(Value::as_str).map(access).collect();
    let mut tool = tools::renamed(call, "Read");
    tool.files = files;
    tool
}

/// A call that failed says so; a command that failed has its exit code behind its output.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let output = tool.output.as_ref()?;
    let text = output.get("llmContent").and_then(Value::as_str).unwrap_or_default();
    let failed =
        output.get("error").is_some_and(|error| !error.is_null()) || (tool.shell.is_some() && says_how_it_failed(text));
    Some(CallOutcome::of(failed))
}

/// What Gemini CLI itself writes behind a command's output, from the end upwards. What the command printed lies before it.
fn says_how_it_failed(text: &str) -> bool {
    let own = text.lines().rev().map_while(|line| match line.split_once(": ") {
        Some((label @ ("Exit Code" | "Signal" | "Error" | "Process Group PGID" | "Background PIDs"), _)) => Some(label),
        _ => (line == "</untrusted_context>").then_some(""),
    });
    let own: Vec<&str> = own.collect();
    // What did not start has no group; where there is one, a line with `Error` is the command's.
    let has_started = own.contains(&"Process Group PGID");
    own.iter().any(|label| matches!(*label, "Exit Code" | "Signal") || (*label == "Error" && !has_started))
}
