//! What Cursor lets a hook do.

use crate::protocol::powers::{Asking, Powers};

pub(super) fn powers(event: &str) -> Powers {
    let powers = match event {
        "preToolUse" | "beforeReadFile" => Powers { ask: Asking::Refuses, ..Powers::REFUSE },
        "beforeShellExecution" | "beforeMCPExecution" => Powers { ask: Asking::Asks, ..Powers::REFUSE },
        "beforeSubmitPrompt" | "stop" | "subagentStop" | "subagentStart" => Powers::REFUSE,
        "postToolUse" | "sessionStart" => Powers::CONTEXT,
        "postToolUseFailure"
        | "sessionEnd"
        | "preCompact"
        | "afterFileEdit"
        | "afterShellExecution"
        | "afterMCPExecution"
        | "afterAgentResponse"
        | "afterAgentThought"
        | "workspaceOpen" => Powers::NONE,
        _ => Powers::UNKNOWN,
    };
    // What is said to the person comes with a refusal only.
    Powers { message: false, ..powers }
}
