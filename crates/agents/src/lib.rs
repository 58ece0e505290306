//! The coding agents that Linchpin understands: what their hooks send and take, where their settings live, and what
//! their transcripts say.
//!
//! Payload bytes become an [`Event`]; an [`Event`] and a [`Verdict`] become an [`Answer`] in the agent's own shape.
//! This crate decides nothing about verdicts and knows no rules, no store and no environment: where a lookup is
//! needed the caller passes one.
//!
//! A further agent is a folder beside `claude/` and `codex/` that fills in an [`Adapter`], and a variant of [`Agent`].
//! What agents have in common lives in `protocol/`, `install/` and `transcript/`, never in two folders.

mod claude;
mod codex;
pub mod environment;
pub mod install;
mod protocol;
pub mod transcript;

use engine::{Event, EventKind, Verdict};

pub use protocol::answer::Answer;
pub use protocol::decode::{PAYLOAD_LIMIT, Undecodable};
pub use protocol::wording::shown;

/// An agent whose hooks call Linchpin. It is named on the command line, never guessed from a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    Claude,
    Codex,
}

impl Agent {
    pub const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// The name used on the command line, in events and in the journal.
    pub fn name(self) -> &'static str {
        self.adapter().name
    }

    /// The name that the agent's makers use.
    pub fn title(self) -> &'static str {
        self.adapter().title
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    fn adapter(self) -> &'static Adapter {
        match self {
            Self::Claude => &claude::ADAPTER,
            Self::Codex => &codex::ADAPTER,
        }
    }
}

/// Everything that is particular to one agent.
struct Adapter {
    name: &'static str,
    title: &'static str,
    /// The canonical kind of one of the agent's own event names.
    kind: fn(&str) -> EventKind,
    /// Turns what the payload says of a tool call into the canonical call.
    tool: fn(protocol::decode::RawCall<'_>) -> engine::event::ToolCall,
    /// How a call that ran went, where the payload says so.
    outcome: fn(&engine::event::ToolCall) -> Option<engine::event::Outcome>,
    encode: fn(&Event, &Verdict) -> Answer,
    settings: install::Settings,
    transcript: transcript::Format,
    environment: environment::Variables,
}

/// Reads one hook payload. `received` is when it arrived, in milliseconds since 1970.
pub fn decode(agent: Agent, payload: &[u8], received: i64) -> Result<Event, Box<Undecodable>> {
    protocol::decode::decode(agent.adapter(), payload, received)
}

/// Says a verdict in the agent's own protocol, with reasons of at most `limit` bytes. Silence (an empty [`Answer`]) where
/// there is nothing to say; a verdict that is lifted stops nothing.
pub fn encode(agent: Agent, event: &Event, verdict: &Verdict, limit: usize) -> Answer {
    (agent.adapter().encode)(event, &protocol::limit::fitted(verdict.told(), limit))
}

#[cfg(test)]
mod tests;
