//! What OpenCode lets a plugin do.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    match event {
        // The plugin adds a text for the agent to the result of the call.
        "PreToolUse" => HookCapabilities { ask: AskEffect::Refuses, ..HookCapabilities::REFUSE_OR_CONTEXT },
        "UserPromptSubmit" => HookCapabilities::REFUSE_OR_CONTEXT,
        "Stop" | "SubagentStop" => HookCapabilities::REFUSE,
        "PostToolUse" | "SessionStart" | "SubagentStart" | "PreCompact" => HookCapabilities::CONTEXT,
        "PostToolUseFailure" => HookCapabilities::MESSAGE,
        _ => HookCapabilities::UNKNOWN,
    }
}
