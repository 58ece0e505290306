//! What Antigravity lets a hook do. Antigravity accepts no text from a hook, except the reason of a decision.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    let capabilities = match event {
        "PreToolUse" => HookCapabilities { ask: AskEffect::Asks, approve: true, ..HookCapabilities::REFUSE },
        "Stop" => HookCapabilities::REFUSE,
        "PostToolUse" | "PreInvocation" | "PostInvocation" | "SessionStart" => HookCapabilities::NONE,
        _ => HookCapabilities::UNKNOWN,
    };
    HookCapabilities { message: false, ..capabilities }
}
