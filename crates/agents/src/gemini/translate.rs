//! Converts Gemini CLI's events, fields, tools and arguments to the canonical ones.

use engine::EventKind;
use engine::event::{CallOutcome, FileAccess, ToolCall};
use path::Access;
use serde_json::{Map, Value};

use crate::protocol::decode::RawCall;
use crate::protocol::event_names::EventNames;
use crate::protocol::payload_fields::{OWN_TOOL_NAME, count_holds_per_session, rename_fields};
use crate::protocol::{hold_echo, paths, tools};

pub(super) const EVENTS: EventNames = &[
    ("SessionStart", EventKind::SessionStart),
    ("SessionEnd", EventKind::SessionEnd),
    ("BeforeAgent", EventKind::Prompt),
    ("BeforeTool", EventKind::BeforeTool),
    ("AfterTool", EventKind::AfterTool),
    ("AfterAgent", EventKind::Stop),
    ("PreCompress", EventKind::BeforeCompact),
    ("Notification", EventKind::Notification),
];

pub(super) fn adjust_payload(_: &str, kind: EventKind, fields: &mut Map<String, Value>) -> EventKind {
    if kind == EventKind::Stop {
        // At a stop, `prompt` is the prompt that started the turn, not a new one.
        rename_fields(fields, &[("prompt_response", "last_assistant_message"), ("prompt", "turn_prompt")]);
        // Gemini CLI itself reports that the stop was held before, but only until the agent calls a tool.
        count_holds_per_session(fields);
    }
    if let Some(name) = mcp_tool(fields)
        && let Some(own) = fields.insert("tool_name".to_owned(), Value::String(name))
    {
        fields.insert(OWN_TOOL_NAME.to_owned(), own);
    }
    hold_echo::kind_unless_hold_echo(kind, fields)
}

/// Returns the canonical name of an MCP tool, and `None` for other tools. The name is composed from `mcp_context`,
/// because `tool_name` does not show where the server's name ends.
fn mcp_tool(fields: &Map<String, Value>) -> Option<String> {
    let context = fields.get("mcp_context")?;
    let text = |key: &str| context.get(key)?.as_str();
    Some(format!("mcp__{}__{}", text("server_name")?, text("tool_name")?))
}

pub(super) fn convert_call(call: RawCall<'_>) -> ToolCall {
    let directory = ("dir_path", "path");
    match call.name.as_str() {
        "run_shell_command" => tools::renamed(call, "Bash"),
        "write_file" => tools::renamed(call, "Write"),
        "replace" | "edit" => tools::renamed(call, "Edit"),
        "read_file" => tools::renamed(call, "Read"),
        "read_many_files" => read_many(call),
        "glob" => tools::translated(call, "Glob", &[directory]),
        "grep_search" | "search_file_content" => {
            tools::translated(call, "Grep", &[directory, ("include_pattern", "glob"), ("include", "glob")])
        }
        "list_directory" => tools::translated(call, "LS", &[directory]),
        "web_fetch" => tools::renamed(call, "WebFetch"),
        "google_web_search" => tools::renamed(call, "WebSearch"),
        "invoke_agent" => tools::renamed(call, "Task"),
        _ => tools::canonical(call),
    }
}

/// Converts a call of `read_many_files`. The paths and globs in its arguments become files that the call reads.
fn read_many(call: RawCall<'_>) -> ToolCall {
    let file_paths = ["include", "paths"].into_iter().filter_map(|key| call.input.get(key)?.as_array()).flatten();
    let access = |path: &str| FileAccess {
        is_pattern: path.contains(['*', '?', '[', '{']),
        ..FileAccess::new(paths::absolute(call.cwd, path), Access::Read)
    };
    let files: Vec<FileAccess> = file_paths.filter_map(Value::as_str).map(access).collect();
    let mut tool = tools::renamed(call, "Read");
    tool.files = files;
    tool
}

/// The response of a failed call contains an `error`. If a command has failed, Gemini CLI appends the exit code, the
/// signal or the error to the command's output.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let output = tool.output.as_ref()?;
    let text = output.get("llmContent").and_then(Value::as_str).unwrap_or_default();
    let failed =
        output.get("error").is_some_and(|error| !error.is_null()) || (tool.shell.is_some() && reports_failure(text));
    Some(CallOutcome::of(failed))
}

/// True if the lines that Gemini CLI appends to a command's output report a failure. The output before these lines is
/// not searched.
fn reports_failure(text: &str) -> bool {
    let own = text.lines().rev().map_while(|line| match line.split_once(": ") {
        Some((label @ ("Exit Code" | "Signal" | "Error" | "Process Group PGID" | "Background PIDs"), _)) => Some(label),
        _ => (line == "</untrusted_context>").then_some(""),
    });
    let own: Vec<&str> = own.collect();
    // Gemini CLI writes the process group of every command that was started. The output of a started command can end in
    // a line `Error: …` of its own, so `Error` means a failure only if the command was not started.
    let has_started = own.contains(&"Process Group PGID");
    own.iter().any(|label| matches!(*label, "Exit Code" | "Signal") || (*label == "Error" && !has_started))
}
