//! The supported coding agents: formats of their hooks, locations of their settings, and formats of their transcripts.
//!
//! [`decode`] turns a payload into an [`Event`]; [`encode`] turns an [`Event`] and a [`Verdict`] into an [`Answer`] in
//! the agent's format. This crate judges nothing, but an agent that cannot ask its person gets a refusal instead of a
//! question. The crate must not know rules, the store or the process environment: callers pass functions to look up
//! environment variables.
//!
//! To support another agent, add a variant of [`Agent`], and a directory next to `claude/` and `codex/` with an
//! [`Adapter`]. Code that several agents need belongs in `protocol/`, `install/` or `transcript/`; it must not be
//! repeated in the directories of these agents.

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

/// An agent whose hooks call Linchpin. Its name is an argument of the hook's command, and is never
/// guessed from a payload. If an agent runs the hooks of another one, environment variables tell them apart.
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

/// Gets the agent's name of an event, the default kind of events of that name, and the fields of the payload. Returns
/// the event's actual kind, and can change the fields.
type AdjustPayload = fn(&str, EventKind, &mut Map<String, Value>) -> EventKind;

/// An agent's own names of its tools, for `linchpin try`.
struct NativeTools {
    shell: &'static str,
    /// The tools that have a path of a file or a directory as an argument.
    files: &'static [&'static str],
}

/// The differences between one agent and the canonical protocol, which is Claude Code's.
struct Adapter {
    name: &'static str,
    title: &'static str,
    /// The name of the agent's executable.
    program: &'static str,
    /// The agent's names of events, and their kinds.
    events: protocol::event_names::EventNames,
    /// The agent's names of payload fields, each with the canonical name.
    fields: &'static [(&'static str, &'static str)],
    /// Converts what differs from the canonical payload apart from the names of fields, and determines the kind of an
    /// event if the name alone does not show it.
    adjust_payload: Option<AdjustPayload>,
    native_tools: NativeTools,
    /// Converts a call of the agent's tool to a call of the canonical tool, which is Claude Code's.
    convert_call: fn(protocol::decode::RawCall<'_>) -> engine::event::ToolCall,
    /// The name of the shell tool's argument that contains the working directory.
    directory_argument: Option<&'static str>,
    /// The placeholder for the name of an MCP server, if the agent does not report that name.
    unknown_server: Option<&'static str>,
    /// Returns the outcome of a call that has run, if the payload shows it.
    outcome: fn(&engine::event::ToolCall) -> Option<engine::event::CallOutcome>,
    /// Returns what a hook can do at an event of this name.
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

/// Encodes a verdict in the agent's protocol. Reasons, notices and texts for the agent are each limited to `limit`
/// bytes. If there is nothing to say, the [`Answer`] is empty, or what the agent expects instead. A verdict that is not
/// enforced stops nothing.
pub fn encode(agent: Agent, event: &Event, verdict: &Verdict, limit: usize) -> Answer {
    let adapter = agent.adapter();
    let capabilities = (adapter.capabilities)(&event.name);
    let reply =
        protocol::reply::reply_to(event, &protocol::limit::truncated(verdict.as_enforced(), limit), capabilities);
    match reply {
        // A refusal by exit code has only one text, on stderr, so the texts for the agent and for the person are
        // joined. The agent decides who sees the joined text.
        Reply { decision: Some(ReplyDecision::Refuse(reason)), person_text, .. }
            if capabilities.refuse == RefusalMethod::ByExitCode =>
        {
            let texts: Vec<String> = [reason].into_iter().chain(person_text).collect();
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
    if level == own {
        (own, reasons)
    } else {
        (level, format!("{}\n\n{reasons}", protocol::reply::ONLY_A_PERSON_CAN_ALLOW))
    }
}

#[cfg(test)]
mod tests;
