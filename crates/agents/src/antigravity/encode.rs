//! Antigravity's format of answers. Before a tool call, the answer must contain a decision; without one, Antigravity
//! refuses the call or asks the person.

use engine::{Event, EventKind};
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::reply::{Reply, ReplyDecision};

#[derive(Serialize, Default)]
struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) fn encode(event: &Event, reply: Reply) -> Answer {
    let (decision, reason) = match reply.decision {
        Some(ReplyDecision::Refuse(reason)) if event.kind.is_stop() => (Some("continue"), Some(reason)),
        Some(ReplyDecision::Refuse(reason)) => (Some("deny"), Some(reason)),
        // For calls that the person has permanently allowed, Antigravity ignores `ask`, but obeys `force_ask`.
        Some(ReplyDecision::Ask(reason)) => (Some("force_ask"), Some(reason)),
        Some(ReplyDecision::Approve(reason)) => (Some("auto_approve"), Some(reason)),
        None if event.kind == EventKind::BeforeTool => (Some("allow"), None),
        None => (None, None),
    };
    Answer::json(&Output { decision, reason })
}
