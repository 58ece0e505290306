//! Describes why an agent cannot carry out a rule, what happens instead, and how to change the rule.

use engine::event::EventKinds;
use engine::{EventKind, Level};

use crate::Agent;
use crate::capability_table::capabilities;
use crate::protocol::capabilities::{AskEffect, Audience, BlockEffect, has_happened};

/// A missing capability of an agent. The variants are in order of importance, the most important one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shortfall {
    /// The agent does not report the event, so the rule is never judged at it.
    NoEvent,
    /// The agent does not report the server of an MCP tool, so a rule that names the server never matches.
    NoServer,
    /// The rule blocks something that is about to happen, but the agent does not let a hook refuse it.
    NoRefusal(Audience),
    /// The rule objects to something that has happened, but the agent does not show the objection to anyone.
    NoObjection,
    /// The agent cannot ask its person.
    NoQuestion,
    /// The rule only warns, but the agent does not show the warning to anyone.
    NoWarning,
    /// The agent asks its person even if a rule allows the call.
    NoApproval,
}

impl Shortfall {
    /// The name in JSON output.
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

    /// True if the shortfall does not let anything past a rule: only a warning or an approval is lost.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::NoWarning | Self::NoApproval)
    }

    /// Describes what the agent cannot do at these events, and what happens instead.
    pub fn consequence(self, agent: Agent, events: EventKinds) -> String {
        let (title, events) = (agent.title(), listed(events, "or"));
        match self {
            Self::NoEvent => format!("{title} has no hook for {events}, so these rules are not judged"),
            Self::NoServer => {
                format!("{title} does not name the server of an MCP tool, so a rule that names a server never matches")
            }
            Self::NoRefusal(audience) => {
                format!("{title} cannot refuse {events}, so the agent continues: {}", audience.description())
            }
            Self::NoObjection => {
                format!(
                    "{title} accepts no text at {events}, so the agent does not see an objection: {}",
                    Audience::Nobody.description()
                )
            }
            Self::NoQuestion => {
                format!("{title} cannot ask the person at {events}, so `ask` refuses the call until a person allows it")
            }
            Self::NoWarning => {
                format!(
                    "{title} accepts no text at {events}, so the agent does not see a warning: {}",
                    Audience::Nobody.description()
                )
            }
            Self::NoApproval => format!("{title} accepts no approval at {events}: it asks the person as usual"),
        }
    }

    /// Suggests how to change the rule or the settings.
    pub fn help(self, agent: Agent, events: EventKinds) -> String {
        match self {
            Self::NoEvent => match events.iter().filter_map(fallback_event).collect::<EventKinds>() {
                others if others.is_empty() => {
                    "every agent has events for tool calls: use `before_tool` or `after_tool` if they suit the rule"
                        .to_owned()
                }
                others => format!("name {} too, which includes it there", listed(others, "and")),
            },
            Self::NoServer => "name the tool alone: `mcp_tools: ['*:TOOL']`".to_owned(),
            Self::NoRefusal(_) => {
                "refuse the call that leads to it, at `before_tool`: a subagent begins with a call of `Task`".to_owned()
            }
            Self::NoObjection => "block it at `before_tool`, or read `linchpin log`".to_owned(),
            Self::NoQuestion => {
                "`linchpin allow ID` allows one call; to decide without a person, use `action: block` or `action: warn`"
                    .to_owned()
            }
            Self::NoWarning => match events_with_audience(agent) {
                others if others.is_empty() => {
                    "the agent sees only questions and refusals; `linchpin log` shows the rest".to_owned()
                }
                others => format!(
                    "the agent sees it at {}; elsewhere it sees only questions and refusals, and `linchpin log` shows the rest",
                    listed(others, "and")
                ),
            },
            Self::NoApproval => "allow it in the agent's own settings too".to_owned(),
        }
    }
}

/// Returns the shortfalls for a rule that is judged at these events and has this level, each with its event.
pub fn shortfalls(agent: Agent, on: EventKinds, level: Level) -> Vec<(EventKind, Shortfall)> {
    on.iter().filter_map(|kind| Some((kind, shortfall(agent, on, kind, level)?))).collect()
}

/// Returns the placeholder for the name of an MCP server, if the agent does not report that name.
pub fn unknown_server(agent: Agent) -> Option<&'static str> {
    agent.adapter().unknown_server
}

fn shortfall(agent: Agent, on: EventKinds, kind: EventKind, level: Level) -> Option<Shortfall> {
    let all = capabilities(agent);
    let Some(capability) = all.iter().find(|capability| capability.kind == kind) else {
        let is_judged_elsewhere = fallback_event(kind)
            .is_some_and(|other| on.contains(other) && all.iter().any(|capability| capability.kind == other));
        return (!is_judged_elsewhere).then_some(Shortfall::NoEvent);
    };
    let hook = capability.hook;
    let has_audience = hook.audience() != Audience::Nobody;
    match level {
        Level::Block if hook.block_effect(kind) != BlockEffect::Reported => None,
        Level::Block if !has_happened(kind) => Some(Shortfall::NoRefusal(hook.audience())),
        Level::Block => (!has_audience).then_some(Shortfall::NoObjection),
        Level::Ask => (hook.ask == AskEffect::Refuses).then_some(Shortfall::NoQuestion),
        Level::Warn => (!has_audience).then_some(Shortfall::NoWarning),
        Level::Allow => (kind.awaits_permission() && !hook.approve).then_some(Shortfall::NoApproval),
    }
}

/// Agents without a separate event of this kind may report it by an event of another kind. Returns the other kind;
/// `None` if there is none.
fn fallback_event(kind: EventKind) -> Option<EventKind> {
    match kind {
        EventKind::ToolFailed => Some(EventKind::AfterTool),
        EventKind::SubagentStop => Some(EventKind::Stop),
        EventKind::Permission => Some(EventKind::BeforeTool),
        _ => None,
    }
}

/// Returns the events at which the agent shows a text to somebody.
fn events_with_audience(agent: Agent) -> EventKinds {
    let all = capabilities(agent).into_iter();
    all.filter(|capability| capability.hook.audience() != Audience::Nobody).map(|capability| capability.kind).collect()
}

fn listed(events: EventKinds, conjunction: &str) -> String {
    let names: Vec<String> = events.iter().map(|kind| format!("`{}`", kind.name())).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} {conjunction} {last}", others.join(", ")),
        None => String::new(),
    }
}
