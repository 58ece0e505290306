//! The sessions that called hooks under the current hat of a run. The driver of a run does not know the ids of its
//! agents' sessions, so the hooks record them. A session outside of the run does not count, even if it works in the
//! same tree.

use engine::Event;
use serde_json::{Map, Value, json};
use store::StateChanges;

use super::AgentSession;

/// The phase variable that stores the sessions under the current hat, as a list of pairs of agent and session id.
pub const HAT_SESSIONS: &str = "_sessions";

/// Adds the event's session to the changes, if the session is new. `variables` are those of the run.
pub fn add(event: &Event, variables: &Map<String, Value>, changes: &mut StateChanges) {
    if event.session.is_empty() {
        return;
    }
    let mut sessions = variables.get(HAT_SESSIONS).and_then(Value::as_array).cloned().unwrap_or_default();
    let session = json!([event.agent, event.session]);
    if !sessions.contains(&session) {
        sessions.push(session);
        changes.workflow_variables.insert(HAT_SESSIONS.to_owned(), Some(Value::Array(sessions)));
    }
}

/// The only session under the hat; `None` unless exactly one session called hooks. `variables` are those of the run.
pub fn only(variables: &Map<String, Value>) -> Option<AgentSession> {
    let [Value::Array(pair)] = variables.get(HAT_SESSIONS)?.as_array()?.as_slice() else { return None };
    let [agent, session] = pair.as_slice() else { return None };
    Some(AgentSession { agent: agent.as_str()?.to_owned(), id: session.as_str()?.to_owned() })
}
