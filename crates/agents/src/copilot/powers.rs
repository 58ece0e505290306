//! What Copilot CLI lets a hook do. It shows the person nothing of what a hook says.

use crate::protocol::encode::{BEFORE_TOOL, PERMISSION};
use crate::protocol::powers::{Asking, Powers};

pub(super) fn powers(event: &str) -> Powers {
    let powers = match event {
        BEFORE_TOOL => Powers { ask: Asking::Asks, approve: true, ..Powers::REFUSE_OR_CONTEXT },
        PERMISSION => Powers { approve: true, ..Powers::REFUSE },
        "UserPromptSubmit" => Powers::REFUSE_OR_CONTEXT,
        "Stop" | "SubagentStop" => Powers::REFUSE,
        "PostToolUse" | "PostToolUseFailure" | "SessionStart" | "SubagentStart" => Powers::CONTEXT,
        "SessionEnd" | "PreCompact" | "ErrorOccurred" | "Notification" => Powers::NONE,
        _ => Powers::UNKNOWN,
    };
    Powers { message: false, ..powers }
}
