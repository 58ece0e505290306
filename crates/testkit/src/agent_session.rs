//! Simulates an agent's session by calling its hooks.

use serde_json::{Value, json};

use crate::{Reply, TestProject};

/// A session of Claude Code. Every call has its own id.
pub struct AgentSession<'a> {
    project: &'a TestProject,
    id: &'a str,
    calls: usize,
}

impl TestProject {
    pub fn agent(&self) -> AgentSession<'_> {
        self.agent_session("session-1")
    }

    pub fn agent_session<'a>(&'a self, id: &'a str) -> AgentSession<'a> {
        AgentSession { project: self, id, calls: 0 }
    }
}

impl AgentSession<'_> {
    pub fn hook(&self, event: &str, tool: &str, input: &Value, extra_fields: &Value) -> Reply {
        let mut fields = json!({
            "session_id": self.id, "tool_name": tool, "tool_input": input,
            "tool_use_id": format!("{}-{}", self.id, self.calls),
        });
        if let (Some(fields), Some(extra_fields)) = (fields.as_object_mut(), extra_fields.as_object()) {
            fields.extend(extra_fields.clone());
        }
        self.project.hook("claude", &self.project.event_payload(event, &fields))
    }

    /// Calls the hook before a shell command, with a new call id.
    pub fn before(&mut self, command: &str) -> Reply {
        self.calls += 1;
        self.hook("PreToolUse", "Bash", &json!({"command": command}), &json!({}))
    }

    /// Calls the hook after a shell command that succeeded, with the current call id.
    pub fn after(&self, command: &str) -> Reply {
        let response = json!({"tool_response": {"stdout": "", "stderr": ""}});
        self.hook("PostToolUse", "Bash", &json!({"command": command}), &response)
    }

    /// Calls only the hook after a shell command, as if the hook before it had failed to start.
    pub fn after_without_before(&mut self, command: &str) -> Reply {
        self.calls += 1;
        self.after(command)
    }

    /// Calls the hooks before and after a shell command, which must be allowed. The command itself is not run.
    pub fn run(&mut self, command: &str) -> Reply {
        let reply = self.before(command);
        assert_eq!(reply.decision(), "allow", "{}", reply.stdout);
        self.after(command)
    }

    /// Calls the hooks before and after a shell command that fails. The command itself is not run.
    pub fn run_failing(&mut self, command: &str) -> Reply {
        self.before(command);
        self.hook("PostToolUseFailure", "Bash", &json!({"command": command}), &json!({"error": "Exit code 101"}))
    }

    pub fn edit(&mut self, path: &str) -> Reply {
        self.calls += 1;
        let input = json!({"file_path": self.project.root().join(path), "old_string": "a", "new_string": "b"});
        self.hook("PreToolUse", "Edit", &input, &json!({}));
        self.hook("PostToolUse", "Edit", &input, &json!({"tool_response": {}}))
    }

    /// Runs Linchpin in the environment of the agent's shell.
    pub fn linchpin(&self, arguments: &[&str]) -> Reply {
        let mut command = self.project.command(arguments);
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", self.id);
        self.project.run_with_stdin(command, b"")
    }
}
