//! OpenCode's tools and arguments, of both generations.

use engine::EventKind;
use engine::event::{Outcome, ToolCall};
use serde_json::{Map, Value};

use crate::protocol::decode::RawCall;
use crate::protocol::{patch, paths, tools};

pub(super) fn translate(kind: EventKind, fields: &mut Map<String, Value>) -> EventKind {
    if let Some(folder) = fields.get("tool_input").and_then(|input| input.get("workdir")?.as_str()) {
        let cwd = fields.get("cwd").and_then(Value::as_str).unwrap_or_default();
        fields.insert("cwd".to_owned(), Value::String(paths::absolute(cwd, folder)));
    }
    kind
}

pub(super) fn tool(call: RawCall<'_>) -> ToolCall {
    let path = ("filePath", "file_path");
    match call.name.as_str() {
        "bash" | "shell" => tools::translated(call, "Bash", &[]),
        "read" => tools::translated(call, "Read", &[path]),
        "write" => tools::translated(call, "Write", &[path]),
        "edit" | "multiedit" => tools::translated(
            call,
            "Edit",
            &[path, ("oldString", "old_string"), ("newString", "new_string"), ("replaceAll", "replace_all")],
        ),
        "apply_patch" | "patch" => {
            let text = call.input.get("patchText").and_then(Value::as_str).unwrap_or_default().to_owned();
            patch::call(call, &text)
        }
        "glob" => tools::translated(call, "Glob", &[]),
        "grep" => tools::translated(call, "Grep", &[("include", "glob")]),
        "list" => tools::translated(call, "LS", &[]),
        "task" | "subagent" => tools::translated(call, "Task", &[]),
        "webfetch" => tools::translated(call, "WebFetch", &[]),
        "websearch" => tools::translated(call, "WebSearch", &[]),
        _ => tools::canonical(&call.name, call.input, call.cwd),
    }
}

/// A call that failed comes as an event of its own; a command that failed has its exit code beside its output.
pub(super) fn outcome(tool: &ToolCall) -> Option<Outcome> {
    let output = tool.output.as_ref()?;
    let code = output.pointer("/metadata/exit").and_then(Value::as_i64);
    let failed = tools::says_failed(output) || (tool.shell.is_some() && code.is_some_and(|code| code != 0));
    Some(if failed { Outcome::Failed } else { Outcome::Ok })
}
