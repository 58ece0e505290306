//! Antigravity's format of answers. Before a call it needs a decision; without one it stops.

use engine::{Event, EventKind};
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::reply::{Decision, Reply};

#[derive(Serialize, Default)]
struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) fn encode(event: &Event, reply: Reply) -> Answer {
    let (decision, reason) = match reply.decision {
        Some(Decision::Refuse(reason)) if event.kind.is_stop() => (Some("continue"), Some(reason)),
        Some(Decision::Refuse(reason)) => (Some("deny"), Some(reason)),
        // `ask` would be skipped for calls that the person has permanently allowed.
        Some(Decision::Ask(reason)) => (Some("force_ask"), Some(reason)),
        Some(Decision::Approve(reason)) => (Some("auto_approve"), Some(reason)),
        None if event.kind == EventKind::BeforeTool => (Some("allow"), None),
        None => (None, None),
    };
    Answer::json(&Output { decision, reason })
}
