//! The token usage that Linchpin's plugin writes for each request to a model. OpenCode itself has no transcript: it
//! stores sessions in a database.

use serde_json::Value;

use crate::transcript::{MessageTokens, MessageUsage, ReaderState, TranscriptFormat, time};

pub(super) const FORMAT: TranscriptFormat =
    TranscriptFormat { usage, usage_markers: &["\"usage\""], ..TranscriptFormat::NONE };

fn usage(line: &Value, _: &mut ReaderState) -> Option<MessageUsage> {
    let tokens = line.get("tokens").filter(|_| line.get("type").and_then(Value::as_str) == Some("usage"))?;
    let count = |path: &str| tokens.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    Some(MessageUsage {
        id: line.get("id")?.as_str()?.to_owned(),
        time: time(line)?,
        tokens: MessageTokens {
            input: count("/input"),
            output: count("/output").saturating_add(count("/reasoning")),
            cache_read: count("/cache/read"),
            cache_write: count("/cache/write"),
        },
        is_subagent: line.get("agent").is_some_and(Value::is_string),
    })
}
