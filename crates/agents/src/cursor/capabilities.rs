//! What Cursor lets a hook do.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    let capabilities = match event {
        "preToolUse" | "beforeReadFile" => HookCapabilities { ask: AskEffect::Refuses, ..HookCapabilities::REFUSE },
        "beforeShellExecution" | "beforeMCPExecution" => {
            HookCapabilities { ask: AskEffect::Asks, ..HookCapabilities::REFUSE }
        }
        "beforeSubmitPrompt" | "stop" | "subagentStop" | "subagentStart" => HookCapabilities::REFUSE,
        "postToolUse" | "sessionStart" => HookCapabilities::CONTEXT,
        "postToolUseFailure"
        | "sessionEnd"
        | "preCompact"
        | "afterFileEdit"
        | "afterShellExecution"
        | "afterMCPExecution"
        | "afterAgentResponse"
        | "afterAgentThought"
        | "workspaceOpen" => HookCapabilities::NONE,
        _ => HookCapabilities::UNKNOWN,
    };
    // Cursor shows the person a text only together with a decision.
    HookCapabilities { message: false, ..capabilities }
}
