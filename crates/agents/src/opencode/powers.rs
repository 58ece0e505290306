//! What OpenCode lets a plugin do, and so what Linchpin's plugin does.

use crate::protocol::powers::{Asking, Powers};

pub(super) fn powers(event: &str) -> Powers {
    match event {
        // What the model is to read comes with the result of the call.
        "PreToolUse" => Powers { ask: Asking::Refuses, ..Powers::REFUSE_OR_CONTEXT },
        "UserPromptSubmit" => Powers::REFUSE_OR_CONTEXT,
        "Stop" | "SubagentStop" => Powers::REFUSE,
        "PostToolUse" | "SessionStart" | "SubagentStart" | "PreCompact" => Powers::CONTEXT,
        "PostToolUseFailure" => Powers::MESSAGE,
        _ => Powers::UNKNOWN,
    }
}
