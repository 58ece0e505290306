//! Codex' format of answers. It is Claude Code's format, except at the event `PreCompact`.
//!
//! If an answer contains a key that Codex does not accept at the event, Codex ignores the whole answer and runs the
//! call.

use engine::Event;
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::encode::encode as encode_canonical;
use crate::protocol::reply::{Reply, ReplyDecision};

/// The answer that ends the turn. A hook cannot refuse a compaction (`PreCompact`), but it can end the turn before the
/// compaction.
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
        Reply { decision: Some(ReplyDecision::Refuse(stop_reason)), person_text: system_message, .. }
            if event.name == "PreCompact" =>
        {
            Answer::json(&EndTurn { system_message, r#continue: false, stop_reason })
        }
        reply => encode_canonical(event, reply),
    }
}
