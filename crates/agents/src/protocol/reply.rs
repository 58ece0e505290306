//! Turns a verdict into a reply within an agent's capabilities. `encode` then only converts the format.

use std::borrow::Cow;

use engine::{Event, Level, Verdict};

use super::capabilities::{AskEffect, BlockEffect, HookCapabilities, RefusalMethod};
use super::wording;

/// The first sentence for an agent that cannot ask its person.
pub(crate) const PERSON_MUST_DECIDE: &str = "A person must decide this; until then it is refused.";

/// The content of an answer, in no agent's format yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub decision: Option<ReplyDecision>,
    /// For the model.
    pub context: Option<String>,
    /// For the person.
    pub message: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReplyDecision {
    /// A refusal, or the hold of a stop, with everything that the model has to read.
    Refuse(String),
    Ask(String),
    Approve(String),
}

impl Reply {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub(crate) fn of(event: &Event, verdict: &Verdict, capabilities: HookCapabilities) -> Reply {
    let cannot_ask = verdict.level == Level::Ask && capabilities.ask == AskEffect::Refuses;
    let is_refused = capabilities.refuse != RefusalMethod::Never && (verdict.level == Level::Block || cannot_ask);
    let reaches_agent = capabilities.context || is_refused;
    let block_effect = capabilities.block_effect(event.kind);
    let verdict =
        &*if reaches_agent { Cow::Borrowed(verdict) } else { wording::agent_texts_as_notices(event, verdict) };
    let reply = match verdict.level {
        _ if is_refused => refusal(block_effect, verdict, cannot_ask),
        Level::Ask if capabilities.ask == AskEffect::Asks => {
            with_context(verdict, ReplyDecision::Ask(wording::reasons(block_effect, verdict)))
        }
        Level::Allow if verdict.approved && capabilities.approve => {
            with_context(verdict, ReplyDecision::Approve(wording::approval(verdict)))
        }
        Level::Allow => {
            Reply { decision: None, context: wording::agent_texts(verdict), message: wording::notices(verdict) }
        }
        Level::Warn | Level::Ask | Level::Block => Reply {
            decision: None,
            context: Some(wording::reasons_and_agent_texts(block_effect, verdict)),
            message: Some(wording::notices_and(verdict, wording::reasons(block_effect, verdict))),
        },
    };
    drop_unsupported(reply, verdict, capabilities)
}

/// The effective level: an agent that cannot ask refuses instead.
pub(crate) fn effective_level(level: Level, capabilities: HookCapabilities) -> Level {
    if level == Level::Ask && capabilities.ask == AskEffect::Refuses { Level::Block } else { level }
}

fn refusal(block_effect: BlockEffect, verdict: &Verdict, cannot_ask: bool) -> Reply {
    let reasons = wording::reasons_and_agent_texts(block_effect, verdict);
    let reasons = if cannot_ask { format!("{PERSON_MUST_DECIDE}\n\n{reasons}") } else { reasons };
    Reply { decision: Some(ReplyDecision::Refuse(reasons)), context: None, message: wording::notices(verdict) }
}

/// A decision whose reason is for the person, with context for the model.
fn with_context(verdict: &Verdict, decision: ReplyDecision) -> Reply {
    Reply { decision: Some(decision), context: wording::agent_texts(verdict), message: wording::notices(verdict) }
}

/// Drops the parts that the agent does not accept. If the agent shows the person no messages, notices are appended to
/// the reason of a refusal or question, or else given to the model, so that they are not lost.
fn drop_unsupported(mut reply: Reply, verdict: &Verdict, capabilities: HookCapabilities) -> Reply {
    if !capabilities.message {
        reply.message = None;
        let notices = wording::notices(verdict);
        match &mut reply.decision {
            Some(ReplyDecision::Refuse(text) | ReplyDecision::Ask(text)) => add(text, notices.as_deref()),
            _ if capabilities.context => {
                let texts: Vec<String> = notices.into_iter().chain(reply.context.take()).collect();
                reply.context = (!texts.is_empty()).then(|| texts.join("\n\n"));
            }
            Some(ReplyDecision::Approve(text)) => add(text, notices.as_deref()),
            None => {}
        }
    }
    if !capabilities.context {
        reply.context = None;
    }
    reply
}

fn add(text: &mut String, notices: Option<&str>) {
    text.extend(notices.into_iter().flat_map(|notices| ["\n\n", notices]));
}
