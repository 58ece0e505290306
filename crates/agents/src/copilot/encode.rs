//! Copilot CLI's format of answers: before a call, Claude Code's; at other events, without nesting.

use engine::Event;
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::encode::{BEFORE_TOOL, PERMISSION, encode as encode_as_family};
use crate::protocol::reply::{Reply, ReplyDecision};

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Flat {
    Block { decision: &'static str, reason: String },
    Context { additional_context: String },
    Approve { behavior: &'static str },
    Deny { behavior: &'static str, message: String },
}

pub(super) fn encode(event: &Event, reply: Reply) -> Answer {
    if event.name == BEFORE_TOOL {
        return encode_as_family(event, reply);
    }
    let is_prompt = event.name == PERMISSION;
    match (reply.decision, reply.context) {
        (Some(ReplyDecision::Refuse(message)), _) if is_prompt => {
            Answer::json(&Flat::Deny { behavior: "deny", message })
        }
        (Some(ReplyDecision::Approve(_)), _) if is_prompt => Answer::json(&Flat::Approve { behavior: "allow" }),
        (Some(ReplyDecision::Refuse(reason)), _) => Answer::json(&Flat::Block { decision: "block", reason }),
        (_, Some(additional_context)) => Answer::json(&Flat::Context { additional_context }),
        (_, None) => Answer::silence(),
    }
}
