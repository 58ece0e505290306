//! What Antigravity lets a hook do. It takes no text beside a decision.

use crate::protocol::powers::{Asking, Powers};

pub(super) fn powers(event: &str) -> Powers {
    let powers = match event {
        "PreToolUse" => Powers { ask: Asking::Asks, approve: true, ..Powers::REFUSE },
        "Stop" => Powers::REFUSE,
        "PostToolUse" | "PreInvocation" | "PostInvocation" | "SessionStart" => Powers::NONE,
        _ => Powers::UNKNOWN,
    };
    Powers { message: false, ..powers }
}
