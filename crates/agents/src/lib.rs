//! The supported coding agents: formats of their hooks, locations of their settings, and formats of their transcripts.
//!
//! [`decode`] turns a payload into an [`Event`]; [`encode`] turns an [`Event`] and a [`Verdict`] into an [`Answer`] in
//! the agent's format. This crate does not change verdicts. It must not know rules, the store or the process
//! environment: callers pass functions to look up environment variables.
//!
//! To support another agent, add a variant of [`Agent`], and a directory next to `claude/` and `codex/` with an
//! [`Adapter`]. Code that agents share belongs in `protocol/`, `install/` and `transcript/`, never in two directories.

mod antigravity;
pub mod attempt;
pub mod capability_table;
mod claude;
mod codex;
mod copilot;
mod cursor;
pub mod environment;
mod gemini;
pub mod install;
mod opencode;
mod protocol;
mod self_test;
pub mod shortfall;
pub mod transcript;

use engine::{Event, EventKind, Level, Verdict};
use protocol::reply::{Reply, ReplyDecision};
use serde_json::{Map, Value};

pub use protocol::answer::Answer;
pub use protocol::capabilities::{AskEffect, Audience, BlockEffect, HookCapabilities, RefusalMethod};
pub use protocol::decode::{PAYLOAD_LIMIT, Undecodable};
pub use protocol::wording::without_control_characters;
pub use self_test::{SelfTestCall, is_refusal};

/// An agent whose hooks call Linchpin. Its name is an argument of the hook's command, never guessed from a payload.
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

    /// The product name.
    pub fn title(self) -> &'static str {
        self.adapter().title
    }

    /// The name of the agent's executable.
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

/// Gets the agent's name of the event, its kind, and the fields of the payload; returns the actual kind.
type AdjustPayload = fn(&str, EventKind, &mut Map<String, Value>) -> EventKind;

/// An agent's own names of its tools, for `try`.
struct NativeTools {
    shell: &'static str,
    /// The tools that take a file or a directory.
    files: &'static [&'static str],
}

/// The differences of one agent from the protocol family, which is Claude Code's.
struct Adapter {
    name: &'static str,
    title: &'static str,
    /// The name of the agent's executable.
    program: &'static str,
    /// The agent's names of events, and their kinds.
    events: protocol::event_names::EventNames,
    /// The agent's names of payload fields, each with the family's name.
    fields: &'static [(&'static str, &'static str)],
    /// Converts other differences of the payload, and determines the kind of an event whose name is ambiguous.
    adjust_payload: Option<AdjustPayload>,
    native_tools: NativeTools,
    /// Converts a tool call to the canonical tools, which are Claude Code's.
    convert_call: fn(protocol::decode::RawCall<'_>) -> engine::event::ToolCall,
    /// The argument of the agent's shell tool that has the working directory.
    folder_argument: Option<&'static str>,
    /// The placeholder for the name of an MCP server, if the agent does not report it.
    unknown_server: Option<&'static str>,
    /// The outcome of a call that ran, if the payload has it.
    outcome: fn(&engine::event::ToolCall) -> Option<engine::event::CallOutcome>,
    /// What a hook can do at an event of this name.
    capabilities: fn(&str) -> HookCapabilities,
    /// Converts a reply to the agent's format.
    encode: fn(&Event, Reply) -> Answer,
    settings: install::Settings,
    transcript: transcript::TranscriptFormat,
    environment: environment::AgentVariables,
}

/// Decodes a hook payload. `event_argument`: the event's name in the hook's command line, used if the payload has none.
/// `received`: the time of arrival, in milliseconds since 1970.
pub fn decode(
    agent: Agent,
    event_argument: Option<&str>,
    payload: &[u8],
    received: i64,
) -> Result<Event, Box<Undecodable>> {
    protocol::decode::decode(agent.adapter(), event_argument, payload, received)
}

/// Encodes a verdict in the agent's protocol, with at most `limit` bytes of reasons. The [`Answer`] is empty if there
/// is nothing to say. A verdict that is not enforced stops nothing.
pub fn encode(agent: Agent, event: &Event, verdict: &Verdict, limit: usize) -> Answer {
    let adapter = agent.adapter();
    let capabilities = (adapter.capabilities)(&event.name);
    let reply = protocol::reply::of(event, &protocol::limit::truncated(verdict.as_enforced(), limit), capabilities);
    match reply {
        // The exit code allows only one text; the agent decides who sees it.
        Reply { decision: Some(ReplyDecision::Refuse(reason)), message, .. }
            if capabilities.refuse == RefusalMethod::ByExitCode =>
        {
            let texts: Vec<String> = [reason].into_iter().chain(message).collect();
            Answer::refusal(&texts.join("\n\n"))
        }
        reply => (adapter.encode)(event, reply),
    }
}

/// Returns the reasons of a verdict as shown to agents and people; empty if there are none.
pub fn reasons(kind: EventKind, verdict: &Verdict) -> String {
    let verdict = verdict.as_enforced();
    if verdict.reported_findings().next().is_none() {
        return String::new();
    }
    let block_effect = if kind.is_stop() { BlockEffect::Held } else { BlockEffect::Refused };
    protocol::wording::reasons(block_effect, &verdict)
}

/// Returns a verdict's level and reasons for an agent at events of this kind. The level differs from the verdict's own
/// if a person has to be asked and the agent cannot ask: the call is then refused.
pub fn effective_level_and_reasons(agent: Agent, kind: EventKind, verdict: &Verdict) -> (Level, String) {
    let (own, reasons) = (verdict.as_enforced().level, reasons(kind, verdict));
    let capability = capability_table::capabilities(agent).into_iter().find(|capability| capability.kind == kind);
    let level = capability.map_or(own, |capability| protocol::reply::effective_level(own, capability.hook));
    if level == own { (own, reasons) } else { (level, format!("{}\n\n{reasons}", protocol::reply::PERSON_MUST_DECIDE)) }
}

#[cfg(test)]
mod tests;
