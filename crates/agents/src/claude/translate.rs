//! Claude Code's tools.

use engine::event::{CallOutcome, ToolCall};

use crate::protocol::decode::RawCall;
use crate::protocol::tools;

pub(super) fn convert_call(call: RawCall<'_>) -> ToolCall {
    match call.name.as_str() {
        // Called `Task` before Claude Code 2.1.63, and still in rules.
        "Agent" => tools::renamed(call, "Task"),
        _ => tools::canonical(call),
    }
}

/// A failed call has its own event. A call that ran may still have been interrupted.
pub(super) fn outcome(tool: &ToolCall) -> Option<CallOutcome> {
    let failed = tools::says_failed(tool.output.as_ref()?);
    Some(CallOutcome::of(failed))
}
