//! What an agent does in a session, as its hooks tell it.

use serde_json::{Value, json};

use crate::{Reply, Scratch};

/// A session of Claude Code. Each call has an id of its own.
pub struct AgentSession<'a> {
    scratch: &'a Scratch,
    id: &'a str,
    made: usize,
}

impl Scratch {
    pub fn agent(&self) -> AgentSession<'_> {
        self.agent_session("session-1")
    }

    pub fn agent_session<'a>(&'a self, id: &'a str) -> AgentSession<'a> {
        AgentSession { scratch: self, id, made: 0 }
    }
}

impl AgentSession<'_> {
    pub fn hook(&self, event: &str, tool: &str, input: &Value, more: &Value) -> Reply {
        let mut fields = json!({
            "session_id": self.id, "tool_name": tool, "tool_input": input,
            "tool_use_id": format!("{}-{}", self.id, self.made),
        });
        if let (Some(fields), Some(more)) = (fields.as_object_mut(), more.as_object()) {
            fields.extend(more.clone());
        }
        self.scratch.hook("claude", &self.scratch.event(event, &fields))
    }

    /// A call begins.
    pub fn before(&mut self, command: &str) -> Reply {
        self.made += 1;
        self.hook("PreToolUse", "Bash", &json!({"command": command}), &json!({}))
    }

    /// The call that began has gone well.
    pub fn after(&self, command: &str) -> Reply {
        let response = json!({"tool_response": {"stdout": "", "stderr": ""}});
        self.hook("PostToolUse", "Bash", &json!({"command": command}), &response)
    }

    /// A call whose beginning nobody was told of.
    pub fn only_after(&mut self, command: &str) -> Reply {
        self.made += 1;
        self.after(command)
    }

    /// One call, from its beginning to its end.
    pub fn run(&mut self, command: &str) -> Reply {
        let reply = self.before(command);
        assert_eq!(reply.decision(), "allow", "{}", reply.stdout);
        self.after(command)
    }

    /// A call that fails.
    pub fn fail(&mut self, command: &str) -> Reply {
        self.before(command);
        self.hook("PostToolUseFailure", "Bash", &json!({"command": command}), &json!({"error": "Exit code 101"}))
    }

    pub fn edit(&mut self, path: &str) -> Reply {
        self.made += 1;
        let input = json!({"file_path": self.scratch.root().join(path), "old_string": "a", "new_string": "b"});
        self.hook("PreToolUse", "Edit", &input, &json!({}));
        self.hook("PostToolUse", "Edit", &input, &json!({"tool_response": {}}))
    }

    /// A command of Linchpin's, in the agent's own shell.
    pub fn linchpin(&self, arguments: &[&str]) -> Reply {
        let mut command = self.scratch.command(arguments);
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", self.id);
        self.scratch.feed(command, b"")
    }
}
