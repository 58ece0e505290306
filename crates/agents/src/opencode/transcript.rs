//! What Linchpin's plugin writes down of each request to a model: OpenCode itself keeps it in a database.

use serde_json::Value;

use crate::transcript::{Format, Known, MessageTokens, MessageUsage, time};

pub(super) const FORMAT: Format = Format { usage, usage_marks: &["\"usage\""], ..Format::NONE };

fn usage(line: &Value, _: &mut Known) -> Option<MessageUsage> {
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
