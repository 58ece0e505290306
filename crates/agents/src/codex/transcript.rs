//! Codex's rollout: records of a type and a payload.
//!
//! Usage is reported twice, as a `token_usage_record` with the response's id (newer) and as a `token_count` event
//! without (older). Where there are records, they count. Input contains what came from the cache, and is reduced by it.
//!
//! A thread forked from another may begin with a copy of its lines, which have the time of the fork on them and may lack
//! the records. They were used by the other thread, whose own rollout tells it, and do not count.

use engine::event::CallOutcome;
use serde_json::Value;

use crate::transcript::{Format, Known, MessageTokens, MessageUsage, time};

pub(super) const FORMAT: Format = Format {
    usage,

    message,
    outcome,
    mode,
    usage_marks: &["\"session_meta\"", "\"turn_context\"", "\"token_usage_record\"", "\"token_count\""],
    ..Format::NONE
};

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

fn usage(line: &Value, known: &mut Known) -> Option<MessageUsage> {
    let payload = line.get("payload")?;
    match (kind(line), kind(payload)) {
        ("session_meta", _) => begin(payload, known),
        ("turn_context", _) => begin_turn(payload, known),
        ("token_usage_record", _) => return record(line, payload, known),
        ("event_msg", "token_count") => return count(line, payload.get("info")?, known),
        _ => {}
    }
    None
}

/// The first line. In a fork, those of the threads that it comes from follow.
fn begin(meta: &Value, known: &mut Known) {
    if known.thread.is_none() {
        known.thread = text(meta, "id").map(str::to_owned);
        known.is_subagent = meta.pointer("/source/subagent").is_some();
        known.is_copy = text(meta, "forked_from_id").is_some();
    }
}

/// Ids of threads and turns begin with the time: what a fork has copied are turns from before it was made. Where turns
/// have no ids, all of them are taken for its own.
fn begin_turn(context: &Value, known: &mut Known) {
    if known.is_copy {
        known.is_copy = text(context, "turn_id").is_some_and(|turn| Some(turn) < known.thread.as_deref());
    }
}

fn record(line: &Value, record: &Value, known: &mut Known) -> Option<MessageUsage> {
    let (thread, response) = (text(record, "thread_id")?, text(record, "response_id")?);
    known.has_ids = true;
    if known.thread.as_deref().is_some_and(|own| own != thread) {
        return None;
    }
    Some(MessageUsage {
        id: format!("{thread}/{response}"),
        time: time(line)?,
        tokens: tokens(record.get("usage")?),
        is_subagent: known.is_subagent,
    })
}

/// Written again and again with the same total, as limits change.
fn count(line: &Value, info: &Value, known: &mut Known) -> Option<MessageUsage> {
    let thread = known.thread.as_deref()?;
    let total = info.pointer("/total_token_usage/total_tokens")?.as_u64()?;
    if known.has_ids || known.is_copy || known.total.replace(total) == Some(total) {
        return None;
    }
    Some(MessageUsage {
        id: format!("{thread}/{total}"),
        time: time(line)?,
        tokens: tokens(info.get("last_token_usage")?),
        is_subagent: known.is_subagent,
    })
}

fn tokens(usage: &Value) -> MessageTokens {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (cache_read, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    MessageTokens {
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
fn outcome(line: &Value, call: &str) -> Option<CallOutcome> {
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
    Some(if code == 0 { CallOutcome::Ok } else { CallOutcome::Failed })
}

/// Written before the hook on the prompt that begins the turn is called.
fn mode(line: &Value, turn: &str) -> Option<Value> {
    let payload = line.get("payload").filter(|_| kind(line) == "turn_context")?;
    let is_meant = payload.get("turn_id").and_then(Value::as_str) == Some(turn);
    is_meant.then(|| payload.pointer("/collaboration_mode/mode").cloned().unwrap_or_default())
}
