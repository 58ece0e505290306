//! What Gemini CLI lets a hook do.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    match event {
        // Asking is not used: in headless mode, Gemini CLI would wait forever for an answer.
        "BeforeTool" => HookCapabilities { ask: AskEffect::Refuses, ..HookCapabilities::REFUSE },
        "BeforeAgent" => HookCapabilities::REFUSE_OR_CONTEXT,
        "AfterAgent" => HookCapabilities::REFUSE,
        // A refusal after a call would hide its output from the model; a text is added to the output.
        "AfterTool" | "SessionStart" => HookCapabilities::CONTEXT,
        "SessionEnd" | "Notification" | "PreCompress" => HookCapabilities::MESSAGE,
        "BeforeModel" | "AfterModel" | "BeforeToolSelection" => HookCapabilities::NONE,
        _ => HookCapabilities::UNKNOWN,
    }
}
