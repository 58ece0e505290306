//! Codex's words for an answer: Claude Code's, but for the one event that takes none of them. It knows every key by name, and
//! with one key more than an event takes the whole answer is thrown away and the call runs.

use engine::Event;
use serde::Serialize;

use crate::protocol::answer::Answer;
use crate::protocol::encode::encode as encode_as_family;
use crate::protocol::reply::{Decision, Reply};

/// `PreCompact` cannot be blocked, but the turn can be ended before it.
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
        Reply { decision: Some(Decision::Refuse(stop_reason)), message: system_message, .. }
            if event.name == "PreCompact" =>
        {
            Answer::json(&EndTurn { system_message, r#continue: false, stop_reason })
        }
        reply => encode_as_family(event, reply),
    }
}
