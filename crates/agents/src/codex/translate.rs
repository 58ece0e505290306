//! Converts calls of Codex' tools, and reads their outcomes.

use engine::event::{CallOutcome, ShellText, ToolCall};

use super::shell_patch;
use crate::protocol::decode::RawCall;
use crate::protocol::{patch_call, tools};

pub(super) fn convert_call(call: RawCall<'_>) -> ToolCall {
    match call.name.as_str() {
        "apply_patch" => patch_call::call(call),
        "Bash" | "shell" | "local_shell" | "shell_command" | "exec_command" => shell_call(call),
        "spawn_agent" => tools::renamed(call, "Task"),
        "view_image" => tools::renamed(call, "Read"),
        _ => tools::canonical(call),
    }
}

/// Converts a call of the shell tool. If the command contains a patch, the files of the patch become files of the call.
fn shell_call(call: RawCall<'_>) -> ToolCall {
    let cwd = call.cwd;
    let mut tool = tools::renamed(call, "Bash");
    if let Some(ShellText::Command(text)) = &tool.shell {
        tool.files = shell_patch::files(text, cwd);
    }
    tool
}

/// Codex has no event for failed calls. After a command, Codex usually sends only the output. A command can print
/// anything, so the outcome is then `None`; the transcript contains the exit code.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let output = tool.output.as_ref()?;
    if tool.shell.is_none() {
        let failed = tools::has_error_flag(output) || output.as_str().and_then(exit_code).is_some_and(|code| code != 0);
        return Some(CallOutcome::of(failed));
    }
    let code = output.get("exit_code").or_else(|| output.get("metadata")?.get("exit_code"))?.as_i64()?;
    Some(CallOutcome::of(code != 0))
}

/// Reads the `Exit code: N` that Codex writes before the output of a patch.
fn exit_code(output: &str) -> Option<i64> {
    output.strip_prefix("Exit code: ")?.lines().next()?.trim().parse().ok()
}
