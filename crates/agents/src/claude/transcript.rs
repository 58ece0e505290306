//! Claude Code's transcript: one request is several `assistant` lines, each with the usage so far.

use serde_json::Value;

use crate::transcript::{Format, Tokens, Usage, UsageKey};

pub(super) const FORMAT: Format =
    Format { usage, message, outcome: |_, _| None, mode: |_, _| None, usage_marks: &["\"usage\""] };

/// Lines that the client made up, such as errors, were no requests.
fn is_real(line: &Value) -> bool {
    line.get("type").and_then(Value::as_str) == Some("assistant")
        && line.get("isApiErrorMessage") != Some(&Value::Bool(true))
        && line.pointer("/message/model").and_then(Value::as_str) != Some("<synthetic>")
}

fn is_sidechain(line: &Value) -> bool {
    line.get("isSidechain") == Some(&Value::Bool(true))
}

fn usage(line: &Value) -> Option<Usage> {
    if !is_real(line) {
        return None;
    }
    let message = line.get("message")?;
    let usage = message.get("usage")?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Usage {
        tokens: Tokens {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cache_read: count("cache_read_input_tokens"),
            cache_write: count("cache_creation_input_tokens"),
        },
        key: UsageKey::Request {
            message: text(message.get("id")),
            request: text(line.get("requestId")),
            sidechain: is_sidechain(line),
        },
    })
}

fn message(line: &Value) -> Option<String> {
    if !is_real(line) || is_sidechain(line) {
        return None;
    }
    let content = line.pointer("/message/content")?.as_array()?;
    let texts: Vec<&str> = content.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
