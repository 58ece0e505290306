//! Judges a hypothetical event of an agent as a hook would, without recording it.

use std::path::Path;

use agents::Agent;
use agents::attempt::{self, AttemptedCall};
use engine::{Event, Verdict};
use serde_json::{Value, json};

use crate::{Environment, hook};

/// A hypothetical event, which is judged and not recorded.
pub struct DryRun<'a> {
    pub agent: Agent,
    /// The id of the session; empty for a new session.
    pub session: &'a str,
    /// The project of a new session.
    pub root: &'a Path,
    pub cwd: &'a Path,
    pub attempt: AttemptedAct,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// What the agent attempts.
pub enum AttemptedAct {
    Call {
        tool: String,
        input: Value,
    },
    Stop {
        /// True if the agent's previous stop was held, and no prompt has come since that stop.
        held_before: bool,
    },
}

impl DryRun<'_> {
    /// The verdict that the event would get now.
    pub fn verdict(&self, environment: &Environment) -> Verdict {
        hook::dry_run(self.event(), self.agent, environment)
    }

    /// The event, decoded from a payload. The payload of a call has the format of the agent, that of a stop the format
    /// of Claude Code.
    fn event(&self) -> Event {
        let cwd = self.cwd.to_string_lossy();
        let event = match &self.attempt {
            AttemptedAct::Call { tool, input } => attempt::before_tool(
                self.agent,
                AttemptedCall { session: self.session, cwd: &cwd, tool, input },
                self.now,
            ),
            AttemptedAct::Stop { held_before } => {
                let payload = json!({
                    "session_id": self.session,
                    "cwd": cwd,
                    "hook_event_name": "Stop",
                    "stop_hook_active": held_before,
                });
                let decoded = agents::decode(Agent::Claude, None, payload.to_string().as_bytes(), self.now);
                decoded.unwrap_or_else(|error| error.partial)
            }
        };
        let session_directories = vec![self.root.to_string_lossy().into_owned()];
        Event { agent: self.agent.name().to_owned(), session_directories, ..event }
    }
}
