//! Cursor's format of answers. Cursor does not run a call if the answer is not JSON, so every answer to an event that
//! Linchpin knows is JSON.

use engine::{Event, EventKind};
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::reply::{Reply, ReplyDecision};

#[derive(Serialize, Default)]
struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    permission: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#continue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    followup_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
}

pub(super) fn encode(event: &Event, reply: Reply) -> Answer {
    let mut output = Output { additional_context: reply.agent_text, ..Output::default() };
    match reply.decision {
        Some(ReplyDecision::Refuse(reason)) if event.kind.is_stop() => output.followup_message = Some(reason),
        Some(ReplyDecision::Refuse(reason)) if event.kind == EventKind::Prompt => {
            output.r#continue = Some(false);
            output.user_message = Some(reason);
        }
        Some(ReplyDecision::Refuse(reason)) => output.decide("deny", reason),
        Some(ReplyDecision::Ask(reason)) => output.decide("ask", reason),
        Some(ReplyDecision::Approve(_)) | None => {}
    }
    Answer::json(&output)
}

impl Output {
    fn decide(&mut self, permission: &'static str, reason: String) {
        self.permission = Some(permission);
        self.user_message = Some(reason.clone());
        self.agent_message = Some(reason);
    }
}
