//! What Gemini CLI lets a hook do.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    match event {
        // The decision `ask` is not used, because in headless mode Gemini CLI would wait forever for the person's
        // answer.
        "BeforeTool" => HookCapabilities { ask: AskEffect::Refuses, ..HookCapabilities::REFUSE },
        "BeforeAgent" => HookCapabilities::REFUSE_OR_CONTEXT,
        "AfterAgent" => HookCapabilities::REFUSE,
        // After a call, a refusal would hide the call's output from the model, so no call is refused at this event.
        // Instead, Gemini CLI adds Linchpin's text for the agent to the output.
        "AfterTool" | "SessionStart" => HookCapabilities::CONTEXT,
        "SessionEnd" | "Notification" | "PreCompress" => HookCapabilities::MESSAGE,
        "BeforeModel" | "AfterModel" | "BeforeToolSelection" => HookCapabilities::NONE,
        _ => HookCapabilities::UNKNOWN,
    }
}
