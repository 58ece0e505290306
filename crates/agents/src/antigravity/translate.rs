//! Converts Antigravity's events, fields, tools and arguments to the canonical ones.

use engine::EventKind;
use engine::event::{CallOutcome, ToolCall};
use serde_json::{Map, Value};

use crate::protocol::decode::RawCall;
use crate::protocol::event_names::EventNames;
use crate::protocol::payload_fields::{count_holds_per_session, rename_fields};
use crate::protocol::tools;

pub(super) const EVENTS: EventNames = &[
    ("SessionStart", EventKind::SessionStart),
    ("PreToolUse", EventKind::BeforeTool),
    ("PostToolUse", EventKind::AfterTool),
    ("PostToolUse", EventKind::ToolFailed),
    ("Stop", EventKind::Stop),
];

pub(super) const FIELDS: &[(&str, &str)] =
    &[("conversationId", "session_id"), ("transcriptPath", "transcript_path"), ("workspacePaths", "workspace_roots")];

pub(super) fn adjust_payload(_: &str, kind: EventKind, fields: &mut Map<String, Value>) -> EventKind {
    if let Some(Value::Object(mut call)) = fields.shift_remove("toolCall") {
        rename_fields(&mut call, &[("name", "tool_name"), ("args", "tool_input")]);
        fields.extend(call);
    }
    if kind.is_stop() {
        count_holds_per_session(fields);
    }
    // After a call, `error` is empty if the call succeeded. Antigravity does not report the output.
    if kind == EventKind::AfterTool {
        rename_fields(fields, &[("error", "tool_response")]);
        let failed = fields.get("tool_response").and_then(Value::as_str).is_some_and(|error| !error.is_empty());
        return if failed { EventKind::ToolFailed } else { kind };
    }
    kind
}

pub(super) fn convert_call(call: RawCall<'_>) -> ToolCall {
    let (target, absolute) = (("TargetFile", "file_path"), ("AbsolutePath", "file_path"));
    match call.name.as_str() {
        "run_command" => tools::translated(call, "Bash", &[("CommandLine", "command")]),
        "send_command_input" => tools::terminal_input(call, "Input"),
        "view_file" | "view_file_outline" | "view_code_item" | "view_content_chunk" => {
            tools::translated(call, "Read", &[absolute])
        }
        "write_to_file" => tools::translated(call, "Write", &[target, ("CodeContent", "content")]),
        "replace_file_content" => tools::translated(
            call,
            "Edit",
            &[target, ("TargetContent", "old_string"), ("ReplacementContent", "new_string")],
        ),
        "multi_replace_file_content" | "edit_file" => tools::translated(call, "Edit", &[target, absolute]),
        "delete_file" => tools::as_deletion(tools::translated(call, "Write", &[target, absolute])),
        "grep_search" => {
            tools::translated(call, "Grep", &[("Query", "pattern"), ("SearchPath", "path"), ("Includes", "glob")])
        }
        "find_by_name" => tools::translated(call, "Glob", &[("Pattern", "pattern"), ("SearchDirectory", "path")]),
        "list_dir" => tools::translated(call, "LS", &[("DirectoryPath", "path")]),
        "read_url_content" => tools::translated(call, "WebFetch", &[("Url", "url")]),
        "search_web" => tools::renamed(call, "WebSearch"),
        "invoke_subagent" => tools::renamed(call, "Task"),
        name => match name.strip_prefix("mcp_").map(str::to_owned) {
            Some(joined) => tools::possibly_mcp(call, &joined, &['_']),
            None => tools::canonical(call),
        },
    }
}

/// Returns `Ok` if the call has a response, and `None` otherwise. Failed calls do not get here, because
/// `adjust_payload` has changed the kind of their events.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    tool.output.as_ref().map(|_| CallOutcome::Ok)
}
