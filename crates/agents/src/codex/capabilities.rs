//! What Codex lets a hook do.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    match event {
        // Codex does not support the decision `ask`, and supports `allow` only in an answer that also changes the
        // call's input.
        "PreToolUse" => HookCapabilities { ask: AskEffect::Refuses, ..HookCapabilities::REFUSE_OR_CONTEXT },
        "PermissionRequest" => HookCapabilities { approve: true, ..HookCapabilities::REFUSE },
        "PostToolUse" | "UserPromptSubmit" => HookCapabilities::REFUSE_OR_CONTEXT,
        "Stop" | "SubagentStop" | "PreCompact" => HookCapabilities::REFUSE,
        "SessionStart" | "SubagentStart" => HookCapabilities::CONTEXT,
        "PostCompact" | "Interrupt" => HookCapabilities::MESSAGE,
        "SessionEnd" | "PreModelRequest" | "PostModelRequest" => HookCapabilities::NONE,
        _ => HookCapabilities::UNKNOWN,
    }
}
