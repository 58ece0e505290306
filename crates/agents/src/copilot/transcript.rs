//! Copilot CLI's `events.jsonl`: records with a type and data. Each request to a model has one usage record. Records of
//! a subagent have its id.
//!
//! Input figures include tokens read from and written to the cache, which are subtracted.

use engine::Event;
use jiff::Timestamp;
use serde_json::Value;

use crate::transcript::{MessageTokens, MessageUsage, ReaderState, TranscriptFormat, time};

pub(super) const FORMAT: TranscriptFormat = TranscriptFormat {
    usage,
    message,
    has_caught_up: Some(is_call_of),
    usage_markers: &["\"session.usage_record\""],
    ..TranscriptFormat::NONE
};

fn is_kind(line: &Value, kind: &str) -> bool {
    line.get("type").and_then(Value::as_str) == Some(kind)
}

fn is_subagents(line: &Value) -> bool {
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
        is_subagent: is_subagents(line),
    })
}

/// True for the record that Copilot has called the hook for this event, recognized by the payload's time. Copilot
/// writes with a delay, and this record comes after the messages before the event.
fn is_call_of(line: &Value, event: &Event) -> bool {
    let told = event.extra.get("timestamp").and_then(Value::as_str).and_then(|time| time.parse::<Timestamp>().ok());
    let called = line.pointer("/data/input/timestamp").and_then(Value::as_i64);
    is_kind(line, "hook.start") && called >= told.map(Timestamp::as_millisecond)
}

fn message(line: &Value) -> Option<String> {
    if !is_kind(line, "assistant.message") || is_subagents(line) {
        return None;
    }
    line.pointer("/data/content")?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
