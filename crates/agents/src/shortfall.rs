//! Where an agent falls short of what a rule asks for: what becomes of the verdict there, and what can be done about it.

use engine::event::EventKinds;
use engine::{EventKind, Level};

use crate::Agent;
use crate::capabilities::capabilities;
use crate::protocol::powers::{Asking, Audience, Blocking, has_happened};

/// One way to fall short. Those that matter most come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shortfall {
    /// It does not tell of the event, so the rule is never judged on it.
    NoEvent,
    /// It does not say which server an MCP tool is of, so a rule that names one never matches.
    NoServer,
    /// What a rule blocks is about to happen, and cannot be kept from happening.
    NoRefusal(Audience),
    /// A rule objects to what has happened, and nobody hears of it.
    NoObjection,
    /// It cannot ask its person.
    NoQuestion,
    /// A rule only warns, and nobody hears of it.
    NoWarning,
    /// It asks its person whatever a rule allows.
    NoApproval,
}

impl Shortfall {
    /// The name that programs know it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoEvent => "no_event",
            Self::NoServer => "no_server",
            Self::NoRefusal(_) => "no_refusal",
            Self::NoObjection => "no_objection",
            Self::NoQuestion => "no_question",
            Self::NoWarning => "no_warning",
            Self::NoApproval => "no_approval",
        }
    }

    /// Nothing gets past a rule by it: what it says is only not heard, or spares nobody a question.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::NoWarning | Self::NoApproval)
    }

    /// What the agent cannot do at these events, and what becomes of the verdict.
    pub fn consequence(self, agent: Agent, events: EventKinds) -> String {
        let (title, events) = (agent.title(), listed(events, "or"));
        match self {
            Self::NoEvent => format!("{title} does not tell of {events}, so nothing is judged there"),
            Self::NoServer => {
                format!("{title} does not tell which server an MCP tool is of, so what names a server never matches")
            }
            Self::NoRefusal(audience) => format!("{title} cannot refuse {events}, so it goes on: {}", audience.told()),
            Self::NoObjection => {
                format!(
                    "{title} takes no text at {events}, so an objection reaches nobody: {}",
                    Audience::Nobody.told()
                )
            }
            Self::NoQuestion => {
                format!("{title} cannot ask at {events}, so the call is refused until a person lets it through")
            }
            Self::NoWarning => {
                format!("{title} takes no text at {events}, so a warning reaches nobody: {}", Audience::Nobody.told())
            }
            Self::NoApproval => format!("{title} takes no approval at {events}: it asks its person as it always would"),
        }
    }

    /// What can be done about it, at these events.
    pub fn help(self, agent: Agent, events: EventKinds) -> String {
        match self {
            Self::NoEvent => match events.iter().filter_map(instead_of).collect::<EventKinds>() {
                others if others.is_empty() => {
                    "calls are told of by every agent: `before_tool` and `after_tool` may do as well".to_owned()
                }
                others => format!("name {} too, of which it is a part there", listed(others, "and")),
            },
            Self::NoServer => "name the tool alone: `mcp_tools: ['*:TOOL']`".to_owned(),
            Self::NoRefusal(_) => {
                "refuse what leads to it, at `before_tool`: a subagent begins with a call of `Task`".to_owned()
            }
            Self::NoObjection => "block it at `before_tool`, or read `linchpin log`".to_owned(),
            Self::NoQuestion => {
                "`linchpin allow ID` lets one call through; where nobody should have to, say `block` or `warn`"
                    .to_owned()
            }
            Self::NoWarning => match heard_at(agent) {
                others if others.is_empty() => {
                    "only what asks or blocks is heard; `linchpin log` has the rest".to_owned()
                }
                others => format!(
                    "it is heard at {}; elsewhere only what asks or blocks is, and `linchpin log` has the rest",
                    listed(others, "and")
                ),
            },
            Self::NoApproval => "allow it in the agent's own settings too".to_owned(),
        }
    }
}

/// Where the agent falls short of a rule that is judged on these events and asks for this.
pub fn shortfalls(agent: Agent, on: EventKinds, level: Level) -> Vec<(EventKind, Shortfall)> {
    on.iter().filter_map(|kind| Some((kind, shortfall(agent, on, kind, level)?))).collect()
}

/// What an MCP server is called where the agent does not tell which it is.
pub fn unknown_server(agent: Agent) -> Option<&'static str> {
    agent.adapter().unknown_server
}

fn shortfall(agent: Agent, on: EventKinds, kind: EventKind, level: Level) -> Option<Shortfall> {
    let all = capabilities(agent);
    let Some(capability) = all.iter().find(|capability| capability.kind == kind) else {
        let is_judged_elsewhere = instead_of(kind)
            .is_some_and(|other| on.contains(other) && all.iter().any(|capability| capability.kind == other));
        return (!is_judged_elsewhere).then_some(Shortfall::NoEvent);
    };
    let powers = capability.powers;
    let is_heard = powers.audience() != Audience::Nobody;
    match level {
        Level::Block if powers.blocking(kind) != Blocking::Told => None,
        Level::Block if !has_happened(kind) => Some(Shortfall::NoRefusal(powers.audience())),
        Level::Block => (!is_heard).then_some(Shortfall::NoObjection),
        Level::Ask => (powers.ask == Asking::Refuses).then_some(Shortfall::NoQuestion),
        Level::Warn => (!is_heard).then_some(Shortfall::NoWarning),
        Level::Allow => (kind.awaits_permission() && !powers.approve).then_some(Shortfall::NoApproval),
    }
}

/// The event at which the same is judged where an agent does not tell of this one: it is part of that.
fn instead_of(kind: EventKind) -> Option<EventKind> {
    match kind {
        EventKind::ToolFailed => Some(EventKind::AfterTool),
        EventKind::SubagentStop => Some(EventKind::Stop),
        EventKind::Permission => Some(EventKind::BeforeTool),
        _ => None,
    }
}

/// Where what the agent is told is heard.
fn heard_at(agent: Agent) -> EventKinds {
    let all = capabilities(agent).into_iter();
    all.filter(|capability| capability.powers.audience() != Audience::Nobody)
        .map(|capability| capability.kind)
        .collect()
}

fn listed(events: EventKinds, conjunction: &str) -> String {
    let names: Vec<String> = events.iter().map(|kind| format!("`{}`", kind.name())).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} {conjunction} {last}", others.join(", ")),
        None => String::new(),
    }
}
