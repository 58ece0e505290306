//! What Copilot CLI lets a hook do. Copilot CLI never shows a hook's text to the person.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};
use crate::protocol::encode::{BEFORE_TOOL, PERMISSION};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    let capabilities = match event {
        BEFORE_TOOL => HookCapabilities { ask: AskEffect::Asks, approve: true, ..HookCapabilities::REFUSE_OR_CONTEXT },
        PERMISSION => HookCapabilities { approve: true, ..HookCapabilities::REFUSE },
        "UserPromptSubmit" => HookCapabilities::REFUSE_OR_CONTEXT,
        "Stop" | "SubagentStop" => HookCapabilities::REFUSE,
        "PostToolUse" | "PostToolUseFailure" | "SessionStart" | "SubagentStart" => HookCapabilities::CONTEXT,
        "SessionEnd" | "PreCompact" | "ErrorOccurred" | "Notification" => HookCapabilities::NONE,
        _ => HookCapabilities::UNKNOWN,
    };
    HookCapabilities { message: false, ..capabilities }
}
