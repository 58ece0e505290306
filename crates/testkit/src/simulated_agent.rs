//! Simulates an agent's session by calling its hooks.

use serde_json::{Value, json};

use crate::{ProcessOutput, TestProject};

/// A simulated session of Claude Code. No command runs and no file changes: only the hooks are called. Every tool call
/// has its own id.
pub struct SimulatedAgent<'a> {
    project: &'a TestProject,
    id: &'a str,
    calls: usize,
}

impl TestProject {
    pub fn agent(&self) -> SimulatedAgent<'_> {
        self.agent_session("session-1")
    }

    pub fn agent_session<'a>(&'a self, id: &'a str) -> SimulatedAgent<'a> {
        SimulatedAgent { project: self, id, calls: 0 }
    }
}

impl SimulatedAgent<'_> {
    pub fn hook(&self, event: &str, tool: &str, input: &Value, extra_fields: &Value) -> ProcessOutput {
        let mut fields = json!({
            "session_id": self.id, "tool_name": tool, "tool_input": input,
            "tool_use_id": format!("{}-{}", self.id, self.calls),
        });
        if let (Some(fields), Some(extra_fields)) = (fields.as_object_mut(), extra_fields.as_object()) {
            fields.extend(extra_fields.clone());
        }
        self.project.hook("claude", &self.project.event_payload(event, &fields))
    }

    /// Calls the `PreToolUse` hook for a shell command, with a new call id.
    pub fn before(&mut self, command: &str) -> ProcessOutput {
        self.calls += 1;
        self.hook("PreToolUse", "Bash", &json!({"command": command}), &json!({}))
    }

    /// Calls the `PostToolUse` hook for a shell command that succeeded, with the current call id.
    pub fn after(&self, command: &str) -> ProcessOutput {
        let response = json!({"tool_response": {"stdout": "", "stderr": ""}});
        self.hook("PostToolUse", "Bash", &json!({"command": command}), &response)
    }

    /// Calls only the `PostToolUse` hook for a shell command, as if the `PreToolUse` hook had failed to start.
    pub fn after_without_before(&mut self, command: &str) -> ProcessOutput {
        self.calls += 1;
        self.after(command)
    }

    /// Simulates a shell command that succeeds. Panics unless the `PreToolUse` hook allows it.
    pub fn run(&mut self, command: &str) -> ProcessOutput {
        let reply = self.before(command);
        assert_eq!(reply.decision(), "allow", "{}", reply.stdout);
        self.after(command)
    }

    /// Simulates a shell command that fails, whether or not the `PreToolUse` hook allows it.
    pub fn run_failing(&mut self, command: &str) -> ProcessOutput {
        self.before(command);
        self.hook("PostToolUseFailure", "Bash", &json!({"command": command}), &json!({"error": "Exit code 101"}))
    }

    /// Simulates a file edit, whether or not the `PreToolUse` hook allows it.
    pub fn edit(&mut self, path: &str) -> ProcessOutput {
        self.calls += 1;
        let input = json!({"file_path": self.project.root().join(path), "old_string": "a", "new_string": "b"});
        self.hook("PreToolUse", "Edit", &input, &json!({}));
        self.hook("PostToolUse", "Edit", &input, &json!({"tool_response": {}}))
    }

    /// Runs Linchpin, as the agent's shell would: with the environment variables of the session.
    pub fn linchpin(&self, arguments: &[&str]) -> ProcessOutput {
        let mut command = self.project.command(arguments);
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", self.id);
        self.project.run_with_stdin(command, b"")
    }
}
