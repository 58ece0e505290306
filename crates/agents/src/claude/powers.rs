//! What Claude Code lets a hook do.

use crate::protocol::encode::{BEFORE_TOOL, PERMISSION};
use crate::protocol::powers::{Asking, Powers};

pub(super) fn powers(event: &str) -> Powers {
    match event {
        BEFORE_TOOL => Powers { ask: Asking::Asks, approve: true, ..Powers::REFUSE_OR_CONTEXT },
        // That nothing is decided is what makes Claude Code ask.
        PERMISSION => Powers { approve: true, ..Powers::REFUSE },
        "UserPromptSubmit" | "UserPromptExpansion" | "PostToolUse" | "PostToolBatch" => Powers::REFUSE_OR_CONTEXT,
        // Context at a stop would keep the agent at work, which only a block may do.
        "Stop" | "SubagentStop" | "PreCompact" | "ConfigChange" | "TaskCreated" | "TaskCompleted" => Powers::REFUSE,
        "SessionStart" | "SubagentStart" | "PostToolUseFailure" => Powers::CONTEXT,
        "SessionEnd" | "PostCompact" | "Notification" | "FileChanged" | "CwdChanged" | "DirectoryAdded"
        | "InstructionsLoaded" | "Setup" | "StopFailure" | "PermissionDenied" | "TeammateIdle" | "WorktreeCreate"
        | "WorktreeRemove" | "PreModelSwitch" | "PostModelSwitch" | "Elicitation" | "ElicitationResult"
        | "MessageDisplay" => Powers::MESSAGE,
        _ => Powers { message: true, ..Powers::UNKNOWN },
    }
}
