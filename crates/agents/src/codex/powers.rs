//! What Codex lets a hook do.

use crate::protocol::powers::{Asking, Powers};

pub(super) fn powers(event: &str) -> Powers {
    match event {
        // It knows neither `ask` nor a bare `allow`.
        "PreToolUse" => Powers { ask: Asking::Refuses, ..Powers::REFUSE_OR_CONTEXT },
        "PermissionRequest" => Powers { approve: true, ..Powers::REFUSE },
        "PostToolUse" | "UserPromptSubmit" => Powers::REFUSE_OR_CONTEXT,
        "Stop" | "SubagentStop" | "PreCompact" => Powers::REFUSE,
        "SessionStart" | "SubagentStart" => Powers::CONTEXT,
        "PostCompact" | "Interrupt" => Powers::MESSAGE,
        "SessionEnd" | "PreModelRequest" | "PostModelRequest" => Powers::NONE,
        _ => Powers::UNKNOWN,
    }
}
