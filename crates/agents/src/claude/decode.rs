//! Claude Code's tool names.

use engine::event::{CallOutcome, ToolCall};

use crate::protocol::decode::RawCall;
use crate::protocol::tools;

pub(super) fn tool(call: RawCall<'_>) -> ToolCall {
    match call.name.as_str() {
        // Named `Task` before 2.1.63, and still so in rules.
        "Agent" => tools::renamed(call, "Task"),
        _ => tools::canonical(call),
    }
}

/// A call that failed comes as an event of its own; one that ran may yet have been interrupted.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let failed = tools::says_failed(tool.output.as_ref()?);
    Some(CallOutcome::of(failed))
}
