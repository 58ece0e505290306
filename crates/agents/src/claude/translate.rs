//! Converts calls of Claude Code's tools, and reads their outcomes.

use engine::event::{CallOutcome, ToolCall};

use crate::protocol::decode::RawCall;
use crate::protocol::tools;

pub(super) fn convert_call(call: RawCall<'_>) -> ToolCall {
    match call.name.as_str() {
        // Claude Code called this tool `Task` before version 2.1.63, and rules still use that name.
        "Agent" => tools::renamed(call, "Task"),
        _ => tools::canonical(call),
    }
}

/// Claude Code reports failed calls by the event `PostToolUseFailure`. A call that is reported by `PostToolUse` may
/// still have been interrupted; it then counts as failed.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let failed = tools::has_error_flag(tool.output.as_ref()?);
    Some(CallOutcome::of(failed))
}
