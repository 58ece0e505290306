//! What Claude Code lets a hook do.

use crate::protocol::capabilities::{AskEffect, HookCapabilities};
use crate::protocol::encode::{BEFORE_TOOL, PERMISSION};

pub(super) fn capabilities(event: &str) -> HookCapabilities {
    match event {
        BEFORE_TOOL => HookCapabilities { ask: AskEffect::Asks, approve: true, ..HookCapabilities::REFUSE_OR_CONTEXT },
        // Without a decision, Claude Code asks the person.
        PERMISSION => HookCapabilities { approve: true, ..HookCapabilities::REFUSE },
        "UserPromptSubmit" | "UserPromptExpansion" | "PostToolUse" | "PostToolBatch" => {
            HookCapabilities::REFUSE_OR_CONTEXT
        }
        // No context at a stop: it would make the agent continue, which only a block may do.
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
