//! What Claude Code lets a hook do.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};
use crate::protocol::encode::{BEFORE_TOOL, PERMISSION};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    match event {
        BEFORE_TOOL => HookCapabilities { ask: AskEffect::Asks, approve: true, ..HookCapabilities::REFUSE_OR_CONTEXT },
        // If the hook makes no decision, Claude Code asks the person.
        PERMISSION => HookCapabilities { approve: true, ..HookCapabilities::REFUSE },
        "UserPromptSubmit" | "UserPromptExpansion" | "PostToolUse" | "PostToolBatch" => {
            HookCapabilities::REFUSE_OR_CONTEXT
        }
        // At a stop, a text for the agent would make the agent continue. Only a block should do that, so no text is
        // sent.
        "Stop" | "SubagentStop" | "PreCompact" | "ConfigChange" | "TaskCreated" | "TaskCompleted" => {
            HookCapabilities::REFUSE
        }
        "SessionStart" | "SubagentStart" | "PostToolUseFailure" => HookCapabilities::CONTEXT,
        "SessionEnd" | "PostCompact" | "Notification" | "FileChanged" | "CwdChanged" | "DirectoryAdded"
        | "InstructionsLoaded" | "Setup" | "StopFailure" | "PermissionDenied" | "TeammateIdle" | "WorktreeCreate"
        | "WorktreeRemove" | "PreModelSwitch" | "PostModelSwitch" | "Elicitation" | "ElicitationResult"
        | "MessageDisplay" => HookCapabilities::MESSAGE,
        _ => HookCapabilities { message: true, ..HookCapabilities::UNKNOWN },
    }
}
