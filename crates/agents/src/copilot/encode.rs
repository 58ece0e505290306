//! Copilot CLI's format of answers. Before a tool call, it is Claude Code's format; at other events, all fields are at
//! the top level.

use engine::Event;
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::encode::{BEFORE_TOOL, PERMISSION, encode as encode_canonical};
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
        return encode_canonical(event, reply);
    }
    let is_permission = event.name == PERMISSION;
    match (reply.decision, reply.agent_text) {
        (Some(ReplyDecision::Refuse(message)), _) if is_permission => {
            Answer::json(&Flat::Deny { behavior: "deny", message })
        }
        (Some(ReplyDecision::Approve(_)), _) if is_permission => Answer::json(&Flat::Approve { behavior: "allow" }),
        (Some(ReplyDecision::Refuse(reason)), _) => Answer::json(&Flat::Block { decision: "block", reason }),
        (_, Some(additional_context)) => Answer::json(&Flat::Context { additional_context }),
        (_, None) => Answer::empty(),
    }
}
