//! Codex's rollout: records of a type and a payload.
//!
//! Usage is reported twice, as a `token_usage_record` with the response's id (newer) and as a `token_count` event
//! without (older). Where there are records, they count. Input contains what came from the cache, and is reduced by it.

use engine::event::Outcome;
use serde_json::Value;

use crate::transcript::{Format, Tokens, Usage, UsageKey};

pub(super) const FORMAT: Format =
    Format { usage, message, outcome, mode, usage_marks: &["\"token_usage_record\"", "\"token_count\""] };

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn usage(line: &Value) -> Option<Usage> {
    let payload = line.get("payload")?;
    match (kind(line), kind(payload)) {
        ("token_usage_record", _) => {
            let text = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            Some(Usage {
                tokens: tokens(payload.get("usage")?),
                key: UsageKey::Request { message: text("response_id"), request: text("thread_id"), sidechain: false },
            })
        }
        ("event_msg", "token_count") => {
            let usage = payload.pointer("/info/last_token_usage")?;
            Some(Usage { tokens: tokens(usage), key: UsageKey::Nameless })
        }
        _ => None,
    }
}

fn tokens(usage: &Value) -> Tokens {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (cache_read, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Tokens {
        input: count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
        output: count("output_tokens"),
        cache_read,
        cache_write,
    }
}

fn message(line: &Value) -> Option<String> {
    let payload = line.get("payload")?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    match (kind(line), kind(payload)) {
        ("response_item", "message") if payload.get("role").and_then(Value::as_str) == Some("assistant") => {
            let content = payload.get("content")?.as_array()?;
            let texts: Vec<&str> = content.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        ("event_msg", "agent_message") => text(payload.get("message")),
        ("event_msg", "task_complete") => text(payload.get("last_agent_message")),
        _ => None,
    }
}

/// The hook after a command gets its output alone; the exit code is in the rollout by then.
fn outcome(line: &Value, call: &str) -> Option<Outcome> {
    let payload = line.get("payload")?;
    let of_call = |value: &Value, key: &str| value.get(key).and_then(Value::as_str) == Some(call);
    let code = match (kind(line), kind(payload)) {
        ("event_msg", "item_completed") => {
            let item = payload.get("item").filter(|item| of_call(item, "id"))?;
            item.get("exit_code")?.as_i64()?
        }
        ("event_msg", "exec_command_end") if of_call(payload, "call_id") => payload.get("exit_code")?.as_i64()?,
        _ => return None,
    };
    Some(if code == 0 { Outcome::Ok } else { Outcome::Failed })
}

/// Written before the hook on the prompt that begins the turn is called.
fn mode(line: &Value, turn: &str) -> Option<Value> {
    let payload = line.get("payload").filter(|_| kind(line) == "turn_context")?;
    let is_meant = payload.get("turn_id").and_then(Value::as_str) == Some(turn);
    is_meant.then(|| payload.pointer("/collaboration_mode/mode").cloned().unwrap_or_default())
}
