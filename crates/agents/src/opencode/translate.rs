//! Converts tools and arguments of OpenCode 1 and 2 to the canonical ones.

use engine::event::{CallOutcome, ShellText, ToolCall};
use serde_json::Value;

use crate::protocol::decode::RawCall;
use crate::protocol::{patch_call, shell_text, tools};

pub(super) fn convert_call(call: RawCall<'_>) -> ToolCall {
    let path = ("filePath", "file_path");
    match call.name.as_str() {
        "bash" | "shell" => tools::renamed(call, "Bash"),
        "read" => tools::translated(call, "Read", &[path]),
        "write" => tools::translated(call, "Write", &[path]),
        "edit" | "multiedit" => tools::translated(
            call,
            "Edit",
            &[path, ("oldString", "old_string"), ("newString", "new_string"), ("replaceAll", "replace_all")],
        ),
        "apply_patch" | "patch" => patch_call::call(call),
        "batch" => batch(call),
        "glob" => tools::renamed(call, "Glob"),
        "grep" => tools::translated(call, "Grep", &[("include", "glob")]),
        "list" => tools::renamed(call, "LS"),
        "task" | "subagent" => tools::renamed(call, "Task"),
        "webfetch" => tools::renamed(call, "WebFetch"),
        "websearch" => tools::renamed(call, "WebSearch"),
        "plan_enter" | "plan_exit" => tools::canonical(call),
        // OpenCode's names of MCP tools have the form `SERVER_TOOL`.
        name => {
            let joined = name.to_owned();
            tools::possibly_mcp(call, &joined, &['_'])
        }
    }
}

/// Converts a batch of calls to one call with the commands, files and MCP tools of all of them, because OpenCode sends
/// no events for the single calls.
fn batch(call: RawCall<'_>) -> ToolCall {
    let cwd = call.cwd;
    let mut all = ToolCall { files: Vec::new(), ..tools::canonical(call) };
    let mut commands = Vec::new();
    for part in all.input.get("tool_calls").and_then(Value::as_array).into_iter().flatten().take(CALLS_LIMIT) {
        let name = part.get("tool").and_then(Value::as_str).unwrap_or_default().to_owned();
        let input = part.get("parameters").cloned().unwrap_or_default();
        // OpenCode does not run nested batches.
        if name == "batch" {
            continue;
        }
        let part = convert_call(RawCall { name, input, cwd });
        all.files.extend(part.files);
        all.mcp.extend(part.mcp);
        all.aliases.extend([part.name].into_iter().chain(part.aliases));
        let directory = part.input.get(DIRECTORY_ARGUMENT).and_then(Value::as_str);
        commands.extend(part.shell.map(|text| shell_text::in_directory(directory, text)));
    }
    all.shell = join_in_subshells(commands);
    all
}

/// The name of the shell tool's argument that contains the working directory.
pub(super) const DIRECTORY_ARGUMENT: &str = "workdir";

/// OpenCode runs the first 25 calls of a batch and reports the others as failed.
const CALLS_LIMIT: usize = 25;

/// Joins commands into one script, in which each command runs in a subshell. `Missing` if one of the commands is
/// `Missing`; `None` if there are no commands.
fn join_in_subshells(commands: Vec<ShellText>) -> Option<ShellText> {
    if commands.is_empty() {
        return None;
    }
    let subshells = commands.into_iter().map(|command| match command {
        ShellText::Command(text) => Some(format!("(\n{text}\n)")),
        ShellText::Missing => None,
    });
    Some(subshells.collect::<Option<Vec<_>>>().map_or(ShellText::Missing, |texts| ShellText::Command(texts.join("\n"))))
}

/// The plugin reports most failed calls by the event `PostToolUseFailure`. If a command is reported by `PostToolUse`,
/// the exit code in the `metadata` of its response shows whether it failed.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let output = tool.output.as_ref()?;
    let code = output.pointer("/metadata/exit").and_then(Value::as_i64);
    let failed = tools::has_error_flag(output) || (tool.shell.is_some() && code.is_some_and(|code| code != 0));
    Some(CallOutcome::of(failed))
}
