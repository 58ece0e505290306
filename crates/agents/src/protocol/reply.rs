//! What a verdict comes to on an event, by what the agent lets a hook do there. Agents only put it into their words.

use std::borrow::Cow;

use engine::{Event, Level, Verdict};

use super::powers::{Asking, Blocking, Powers, Refusing};
use super::wording;

/// What an agent that cannot ask is told first.
pub(crate) const UNDECIDED: &str = "A person has to decide this; until then it is refused.";

/// What there is to be said, before any agent's own shape.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub decision: Option<Decision>,
    /// For the model.
    pub context: Option<String>,
    /// For the person.
    pub message: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Refused, or held at a stop, with everything that the model is to read.
    Refuse(String),
    Ask(String),
    Approve(String),
}

impl Reply {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub(crate) fn of(event: &Event, verdict: &Verdict, powers: Powers) -> Reply {
    let asks_in_vain = verdict.level == Level::Ask && level(verdict.level, powers) == Level::Block;
    let is_refused = powers.refuse != Refusing::Never && (verdict.level == Level::Block || asks_in_vain);
    let is_told = powers.context || is_refused;
    let blocking = powers.blocking(event.kind);
    let verdict = &*if is_told { Cow::Borrowed(verdict) } else { wording::untold(event, verdict) };
    let reply = match verdict.level {
        _ if is_refused => refusal(blocking, verdict, asks_in_vain),
        Level::Ask if powers.ask == Asking::Asks => beside(verdict, Decision::Ask(wording::reasons(blocking, verdict))),
        Level::Allow if verdict.approved && powers.approve => {
            beside(verdict, Decision::Approve(wording::approval(verdict)))
        }
        Level::Allow => {
            Reply { decision: None, context: wording::context(verdict), message: wording::notices(verdict) }
        }
        Level::Warn | Level::Ask | Level::Block => Reply {
            decision: None,
            context: Some(wording::reasons_and_context(blocking, verdict)),
            message: Some(wording::notices_and(verdict, wording::reasons(blocking, verdict))),
        },
    };
    within(reply, verdict, powers)
}

/// What a level comes to: an agent that cannot ask refuses.
pub(crate) fn level(level: Level, powers: Powers) -> Level {
    if level == Level::Ask && powers.ask == Asking::Refuses { Level::Block } else { level }
}

fn refusal(blocking: Blocking, verdict: &Verdict, asks_in_vain: bool) -> Reply {
    let reasons = wording::reasons_and_context(blocking, verdict);
    let reasons = if asks_in_vain { format!("{UNDECIDED}\n\n{reasons}") } else { reasons };
    Reply { decision: Some(Decision::Refuse(reasons)), context: None, message: wording::notices(verdict) }
}

/// A decision whose reason is for the person, and what the model is to read beside it.
fn beside(verdict: &Verdict, decision: Decision) -> Reply {
    Reply { decision: Some(decision), context: wording::context(verdict), message: wording::notices(verdict) }
}

/// Without what the agent does not take. Where it shows the person nothing else, what the person should know goes with what
/// is said to refuse or to ask; without that the model is told: better there than nowhere.
fn within(mut reply: Reply, verdict: &Verdict, powers: Powers) -> Reply {
    if !powers.message {
        reply.message = None;
        let notices = wording::notices(verdict);
        match &mut reply.decision {
            Some(Decision::Refuse(text) | Decision::Ask(text)) => add(text, notices.as_deref()),
            _ if powers.context => {
                let texts: Vec<String> = notices.into_iter().chain(reply.context.take()).collect();
                reply.context = (!texts.is_empty()).then(|| texts.join("\n\n"));
            }
            Some(Decision::Approve(text)) => add(text, notices.as_deref()),
            None => {}
        }
    }
    if !powers.context {
        reply.context = None;
    }
    reply
}

fn add(text: &mut String, notices: Option<&str>) {
    text.extend(notices.into_iter().flat_map(|notices| ["\n\n", notices]));
}
