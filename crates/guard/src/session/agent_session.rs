//! The identity of an agent's session.

/// The agent and the id of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSession {
    pub agent: String,
    pub id: String,
}
