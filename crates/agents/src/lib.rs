//! The coding agents that Linchpin understands: what their hooks send and take, where their settings live, and what
//! their transcripts say.
//!
//! Payload bytes become an [`Event`]; an [`Event`] and a [`Verdict`] become an [`Answer`] in the agent's own shape.
//! This crate decides nothing about verdicts and knows no rules, no store and no environment: where a lookup is
//! needed the caller passes one.
//!
//! A further agent is a folder beside `claude/` and `codex/` that fills in an [`Adapter`], and a variant of [`Agent`].
//! What agents have in common lives in `protocol/`, `install/` and `transcript/`, never in two folders.

mod antigravity;
pub mod attempt;
pub mod capabilities;
mod claude;
mod codex;
mod copilot;
mod cursor;
pub mod environment;
mod forged;
mod gemini;
pub mod install;
mod opencode;
mod protocol;
pub mod shortfall;
pub mod transcript;

use engine::{Event, EventKind, Level, Verdict};
use protocol::reply::{Decision, Reply};
use serde_json::{Map, Value};

pub use forged::{Forged, is_refusal};
pub use protocol::answer::Answer;
pub use protocol::decode::{PAYLOAD_LIMIT, Undecodable};
pub use protocol::powers::{Asking, Audience, Blocking, Powers, Refusing};
pub use protocol::wording::shown;

/// An agent whose hooks call Linchpin. It is named on the command line, never guessed from a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
    Antigravity,
    Cursor,
    Copilot,
    OpenCode,
}

impl Agent {
    pub const ALL: [Self; 7] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Antigravity, Self::Cursor, Self::Copilot, Self::OpenCode];

    /// The name used on the command line, in events and in the journal.
    pub fn name(self) -> &'static str {
        self.adapter().name
    }

    /// The name that the agent's makers use.
    pub fn title(self) -> &'static str {
        self.adapter().title
    }

    /// What the agent's program is called, by which it is found on a machine.
    pub fn program(self) -> &'static str {
        self.adapter().program
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    fn adapter(self) -> &'static Adapter {
        match self {
            Self::Claude => &claude::ADAPTER,
            Self::Codex => &codex::ADAPTER,
            Self::Gemini => &gemini::ADAPTER,
            Self::Antigravity => &antigravity::ADAPTER,
            Self::Cursor => &cursor::ADAPTER,
            Self::Copilot => &copilot::ADAPTER,
            Self::OpenCode => &opencode::ADAPTER,
        }
    }
}

/// By the event's own name, its kind, and the payload.
type Translate = fn(&str, EventKind, &mut Map<String, Value>) -> EventKind;

/// Everything that is particular to one agent.
struct Adapter {
    name: &'static str,
    title: &'static str,
    /// What the agent's program is called.
    program: &'static str,
    /// The agent's own names of events, and their kinds.
    events: protocol::kinds::Names,
    /// The agent's own names of a payload's fields, and those that the family has for them.
    fields: &'static [(&'static str, &'static str)],
    /// Puts what is left of the payload into the family's shape, and says what the event is where its name does not tell.
    translate: Option<Translate>,
    /// The agent's own name for its shell, and those for its tools that are called with a file or a folder: for `try`.
    shell_tool: &'static str,
    file_tools: &'static [&'static str],
    /// Turns what the payload says of a tool call into the canonical call.
    tool: fn(protocol::decode::RawCall<'_>) -> engine::event::ToolCall,
    /// The argument of the agent's shell that names the folder it runs in.
    folder: Option<&'static str>,
    /// What an MCP server is called where the agent does not tell which it is; nothing where it does.
    unknown_server: Option<&'static str>,
    /// How a call that ran went, where the payload says so.
    outcome: fn(&engine::event::ToolCall) -> Option<engine::event::CallOutcome>,
    /// What a hook can do on an event of this name.
    powers: fn(&str) -> Powers,
    /// A reply in the agent's own words.
    encode: fn(&Event, Reply) -> Answer,
    settings: install::Settings,
    transcript: transcript::Format,
    environment: environment::Variables,
}

/// Reads one hook payload. `received` is when it arrived, in milliseconds since 1970; `named` is the event as the command
/// line of the hook names it, which counts where the payload does not say.
pub fn decode(agent: Agent, named: Option<&str>, payload: &[u8], received: i64) -> Result<Event, Box<Undecodable>> {
    protocol::decode::decode(agent.adapter(), named, payload, received)
}

/// Says a verdict in the agent's own protocol, with reasons of at most `limit` bytes. Silence (an empty [`Answer`]) where
/// there is nothing to say; a verdict that is lifted stops nothing.
pub fn encode(agent: Agent, event: &Event, verdict: &Verdict, limit: usize) -> Answer {
    let adapter = agent.adapter();
    let powers = (adapter.powers)(&event.name);
    let reply = protocol::reply::of(event, &protocol::limit::fitted(verdict.as_enforced(), limit), powers);
    match reply {
        // There is one text, and the agent shows it to whom it likes.
        Reply { decision: Some(Decision::Refuse(reason)), message, .. } if powers.refuse == Refusing::ByExitCode => {
            let texts: Vec<String> = [reason].into_iter().chain(message).collect();
            Answer::refusal(&texts.join("\n\n"))
        }
        reply => (adapter.encode)(event, reply),
    }
}

/// What a verdict says, in the words that agents and people read; empty where it says nothing.
pub fn reasons(kind: EventKind, verdict: &Verdict) -> String {
    let verdict = verdict.as_enforced();
    if verdict.reported_findings().next().is_none() {
        return String::new();
    }
    let blocking = if kind.is_stop() { Blocking::Held } else { Blocking::Refused };
    protocol::wording::reasons(blocking, &verdict)
}

/// A verdict's level and reasons for an agent, by what it lets a hook do on events of this kind. They differ from the verdict's
/// own where a person would have to be asked and the agent cannot ask.
pub fn outcome(agent: Agent, kind: EventKind, verdict: &Verdict) -> (Level, String) {
    let (own, reasons) = (verdict.as_enforced().level, reasons(kind, verdict));
    let capability = capabilities::capabilities(agent).into_iter().find(|capability| capability.kind == kind);
    let level = capability.map_or(own, |capability| protocol::reply::level(own, capability.powers));
    if level == own { (own, reasons) } else { (level, format!("{}\n\n{reasons}", protocol::reply::UNDECIDED)) }
}

#[cfg(test)]
mod tests;
