//! Copilot CLI's transcript, `events.jsonl`. Its lines are records with a type and data. For each request to a model
//! there is one usage record. Records of a subagent contain the subagent's id.
//!
//! The figures for input tokens include tokens read from and written to the cache; these are subtracted.

use engine::Event;
use jiff::Timestamp;
use serde_json::Value;

use crate::transcript::{MessageTokens, MessageUsage, ReaderState, TranscriptFormat, time};

pub(super) const FORMAT: TranscriptFormat = TranscriptFormat {
    usage,
    message,
    has_caught_up: Some(is_hook_start_for),
    usage_markers: &["\"session.usage_record\""],
    ..TranscriptFormat::NONE
};

fn is_kind(line: &Value, kind: &str) -> bool {
    line.get("type").and_then(Value::as_str) == Some(kind)
}

fn is_from_subagent(line: &Value) -> bool {
    line.get("agentId").is_some_and(|agent| !agent.is_null())
}

fn usage(line: &Value, _: &mut ReaderState) -> Option<MessageUsage> {
    let usage = line.pointer("/data/usage").filter(|_| is_kind(line, "session.usage_record"))?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (cache_read, cache_write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    Some(MessageUsage {
        id: line.get("id")?.as_str()?.to_owned(),
        time: time(line)?,
        tokens: MessageTokens {
            input: count("inputTokens").saturating_sub(cache_read).saturating_sub(cache_write),
            output: count("outputTokens"),
            cache_read,
            cache_write,
        },
        is_subagent: is_from_subagent(line),
    })
}

/// True for a record which shows that Copilot has called the hook for this event or for a later one: a `hook.start`
/// record whose time is not before the time in the event's payload, if the payload contains one. Copilot writes records
/// with a delay; once such a record is in the file, all messages before the event are in the file too.
fn is_hook_start_for(line: &Value, event: &Event) -> bool {
    let event_time =
        event.extra.get("timestamp").and_then(Value::as_str).and_then(|time| time.parse::<Timestamp>().ok());
    let record_time = line.pointer("/data/input/timestamp").and_then(Value::as_i64);
    is_kind(line, "hook.start") && record_time >= event_time.map(Timestamp::as_millisecond)
}

fn message(line: &Value) -> Option<String> {
    if !is_kind(line, "assistant.message") || is_from_subagent(line) {
        return None;
    }
    line.pointer("/data/content")?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
