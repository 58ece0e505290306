//! The self-test of `linchpin doctor`: payloads of calls that an installed hook must refuse.

use serde_json::{Value, json};

use crate::Agent;

/// A call of the shell tool that is reported to a hook, but never run.
#[derive(Debug, Clone, Copy)]
pub struct SelfTestCall<'a> {
    pub session: &'a str,
    /// The working directory of the call, an absolute path.
    pub cwd: &'a str,
    pub command: &'a str,
}

impl SelfTestCall<'_> {
    /// Returns the event's name, if the hook's command line needs it, and the payload that the agent would send before
    /// the call.
    pub fn payload(self, agent: Agent) -> (Option<&'static str>, Value) {
        let Self { session, cwd, command } = self;
        let canonical = |event: &str, tool: &str| {
            json!({
                "session_id": session, "turn_id": NAME, "cwd": cwd, "hook_event_name": event,
                "tool_name": tool, "tool_input": { "command": command }, "tool_use_id": NAME,
            })
        };
        match agent {
            Agent::Claude | Agent::Codex => (None, canonical("PreToolUse", "Bash")),
            Agent::Copilot => (Some("PreToolUse"), canonical("PreToolUse", "Bash")),
            Agent::OpenCode => (None, canonical("PreToolUse", "bash")),
            Agent::Gemini => (None, canonical("BeforeTool", "run_shell_command")),
            Agent::Cursor => (
                None,
                json!({
                    "conversation_id": session, "generation_id": NAME, "hook_event_name": "preToolUse",
                    "workspace_roots": [cwd], "cwd": cwd, "tool_name": "Shell",
                    "tool_input": { "command": command }, "tool_use_id": NAME,
                }),
            ),
            Agent::Antigravity => (
                Some("PreToolUse"),
                json!({
                    "conversationId": session, "workspacePaths": [cwd],
                    "toolCall": { "name": "run_command", "args": { "CommandLine": command, "Cwd": cwd } },
                }),
            ),
        }
    }
}

const NAME: &str = "linchpin-doctor";

/// True if a hook's output refuses a call, in the format of any agent.
pub fn is_refusal(answer: &Value) -> bool {
    let says = |place: &str, word: &str| answer.pointer(place).and_then(Value::as_str) == Some(word);
    says("/hookSpecificOutput/permissionDecision", "deny")
        || says("/decision", "block")
        || says("/decision", "deny")
        || says("/permission", "deny")
}
