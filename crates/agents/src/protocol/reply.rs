//! Turns a verdict into a reply within an agent's capabilities. The adapter's `encode` then only converts the format.

use std::borrow::Cow;

use engine::{Event, Level, Verdict};

use super::capabilities::{AskEffect, BlockEffect, HookCapabilities, RefusalMethod};
use super::wording;

/// The first sentence of a refusal that replaces a question, because the agent cannot ask its person.
pub(crate) const ONLY_A_PERSON_CAN_ALLOW: &str = "Refused for now: only a person can allow this.";

/// The content of an answer, before it is converted to an agent's format.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub decision: Option<ReplyDecision>,
    /// The text that the agent reads.
    pub agent_text: Option<String>,
    /// The text that the person reads.
    pub person_text: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReplyDecision {
    /// The action is refused, or the stop is held. The string is everything that the agent has to read.
    Refuse(String),
    Ask(String),
    Approve(String),
}

impl Reply {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub(crate) fn reply_to(event: &Event, verdict: &Verdict, capabilities: HookCapabilities) -> Reply {
    let cannot_ask = verdict.level == Level::Ask && capabilities.ask == AskEffect::Refuses;
    let is_refused = capabilities.refuse != RefusalMethod::Never && (verdict.level == Level::Block || cannot_ask);
    let reaches_agent = capabilities.context || is_refused;
    let block_effect = capabilities.block_effect(event.kind);
    let verdict =
        &*if reaches_agent { Cow::Borrowed(verdict) } else { wording::agent_texts_as_notices(event, verdict) };
    let reply = match verdict.level {
        _ if is_refused => refusal(block_effect, verdict, cannot_ask),
        Level::Ask if capabilities.ask == AskEffect::Asks => {
            with_texts(verdict, ReplyDecision::Ask(wording::reasons(block_effect, verdict)))
        }
        Level::Allow if verdict.approved && capabilities.approve => {
            with_texts(verdict, ReplyDecision::Approve(wording::approval(verdict)))
        }
        Level::Allow => {
            Reply { decision: None, agent_text: wording::agent_texts(verdict), person_text: wording::notices(verdict) }
        }
        Level::Warn | Level::Ask | Level::Block => Reply {
            decision: None,
            agent_text: Some(wording::reasons_and_agent_texts(block_effect, verdict)),
            person_text: Some(wording::notices_and(verdict, wording::reasons(block_effect, verdict))),
        },
    };
    drop_unsupported(reply, verdict, capabilities)
}

/// Returns the level that takes effect: an agent that cannot ask refuses instead.
pub(crate) fn effective_level(level: Level, capabilities: HookCapabilities) -> Level {
    if level == Level::Ask && capabilities.ask == AskEffect::Refuses { Level::Block } else { level }
}

fn refusal(block_effect: BlockEffect, verdict: &Verdict, cannot_ask: bool) -> Reply {
    let reasons = wording::reasons_and_agent_texts(block_effect, verdict);
    let reasons = if cannot_ask { format!("{ONLY_A_PERSON_CAN_ALLOW}\n\n{reasons}") } else { reasons };
    Reply { decision: Some(ReplyDecision::Refuse(reasons)), agent_text: None, person_text: wording::notices(verdict) }
}

/// Adds to a decision the texts for the agent and for the person.
fn with_texts(verdict: &Verdict, decision: ReplyDecision) -> Reply {
    Reply {
        decision: Some(decision),
        agent_text: wording::agent_texts(verdict),
        person_text: wording::notices(verdict),
    }
}

/// Drops the parts that the agent does not accept. If the agent shows the person no messages, the notices are added to
/// another text: in a refusal or a question, to the reason; else, if the agent accepts a text for itself, to that text;
/// else, in an approval, to the reason. In all other cases the notices are dropped.
fn drop_unsupported(mut reply: Reply, verdict: &Verdict, capabilities: HookCapabilities) -> Reply {
    if !capabilities.message {
        reply.person_text = None;
        let notices = wording::notices(verdict);
        match &mut reply.decision {
            Some(ReplyDecision::Refuse(text) | ReplyDecision::Ask(text)) => add(text, notices.as_deref()),
            _ if capabilities.context => {
                let texts: Vec<String> = notices.into_iter().chain(reply.agent_text.take()).collect();
                reply.agent_text = (!texts.is_empty()).then(|| texts.join("\n\n"));
            }
            Some(ReplyDecision::Approve(text)) => add(text, notices.as_deref()),
            None => {}
        }
    }
    if !capabilities.context {
        reply.agent_text = None;
    }
    reply
}

fn add(text: &mut String, notices: Option<&str>) {
    text.extend(notices.into_iter().flat_map(|notices| ["\n\n", notices]));
}
