//! Codex' format of answers: Claude Code's, except for `PreCompact`.
//!
//! Codex rejects unknown keys: with a key that the event does not have, it ignores the whole answer and runs the call.

use engine::Event;
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::encode::encode as encode_as_family;
use crate::protocol::reply::{Reply, ReplyDecision};

/// A hook cannot block `PreCompact`, but can end the turn before it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EndTurn {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    r#continue: bool,
    stop_reason: String,
}

pub(super) fn encode(event: &Event, reply: Reply) -> Answer {
    match reply {
        Reply { decision: Some(ReplyDecision::Refuse(stop_reason)), message: system_message, .. }
            if event.name == "PreCompact" =>
        {
            Answer::json(&EndTurn { system_message, r#continue: false, stop_reason })
        }
        reply => encode_as_family(event, reply),
    }
}
