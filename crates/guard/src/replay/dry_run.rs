//! What an agent would be told, were it to do something now: judged on the path of every hook, and recorded nowhere.

use std::path::Path;

use agents::Agent;
use engine::{Event, Verdict};
use serde_json::{Map, Value, json};

use crate::{Environment, hook};

/// Something that an agent could do.
pub struct DryRun<'a> {
    pub agent: Agent,
    /// The session that would do it; empty for a new one.
    pub session: &'a str,
    /// The project that a new session would belong to.
    pub root: &'a Path,
    pub cwd: &'a Path,
    pub attempt: AttemptedAct,
    /// Milliseconds since 1970.
    pub now: i64,
}

pub enum AttemptedAct {
    Call {
        tool: String,
        input: Value,
    },
    /// `held_before`: the last stop was held, and the session was given no prompt since.
    Stop {
        held_before: bool,
    },
}

impl DryRun<'_> {
    pub fn verdict(&self, environment: &Environment) -> Verdict {
        hook::dry_run(self.event(), self.agent, environment)
    }

    /// Decoded from a payload of Claude Code's, whose names of tools are the canonical ones.
    fn event(&self) -> Event {
        let mut payload = Map::new();
        payload.insert("session_id".to_owned(), json!(self.session));
        payload.insert("cwd".to_owned(), json!(self.cwd.to_string_lossy()));
        match &self.attempt {
            AttemptedAct::Call { tool, input } => {
                payload.insert("hook_event_name".to_owned(), json!("PreToolUse"));
                payload.insert("tool_name".to_owned(), json!(tool));
                payload.insert("tool_input".to_owned(), input.clone());
            }
            AttemptedAct::Stop { held_before } => {
                payload.insert("hook_event_name".to_owned(), json!("Stop"));
                payload.insert("stop_hook_active".to_owned(), json!(held_before));
            }
        }
        let payload = Value::Object(payload).to_string();
        let read = agents::decode(Agent::Claude, None, payload.as_bytes(), self.now);
        let event = read.unwrap_or_else(|unread| unread.partial);
        let session_folders = vec![self.root.to_string_lossy().into_owned()];
        Event { agent: self.agent.name().to_owned(), session_folders, ..event }
    }
}
