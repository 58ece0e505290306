//! Codex' transcript, which Codex calls a *rollout*. Its lines are records with a type and a payload.
//!
//! Newer versions of Codex report the usage of a response twice: as a `token_usage_record` with the response's id, and
//! as a `token_count` event without an id. Older versions write only the `token_count`. After the first
//! `token_usage_record`, no `token_count` is counted. The figures for input tokens include cached tokens; these are
//! subtracted.
//!
//! The rollout of a forked thread may begin with a copy of the original thread's lines. The copied lines have the time
//! of the fork, and their `token_usage_record`s can be missing. Copied lines are not counted, because the original
//! thread's rollout reports the same usage.

use engine::event::CallOutcome;
use serde_json::Value;

use crate::transcript::{MessageTokens, MessageUsage, ReaderState, TranscriptFormat, time};

pub(super) const FORMAT: TranscriptFormat = TranscriptFormat {
    usage,
    message,
    outcome,
    mode,
    usage_markers: &["\"session_meta\"", "\"turn_context\"", "\"token_usage_record\"", "\"token_count\""],
    ..TranscriptFormat::NONE
};

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

fn usage(line: &Value, state: &mut ReaderState) -> Option<MessageUsage> {
    let payload = line.get("payload")?;
    match (kind(line), kind(payload)) {
        ("session_meta", _) => read_session_meta(payload, state),
        ("turn_context", _) => read_turn_context(payload, state),
        ("token_usage_record", _) => return usage_of_record(line, payload, state),
        ("event_msg", "token_count") => return usage_of_count(line, payload.get("info")?, state),
        _ => {}
    }
    None
}

/// Reads a `session_meta` record. Only the first one in a rollout is used: in a fork, the later ones are copied from
/// the original threads.
fn read_session_meta(meta: &Value, state: &mut ReaderState) {
    if state.thread.is_none() {
        state.thread = text(meta, "id").map(str::to_owned);
        state.is_subagent = meta.pointer("/source/subagent").is_some();
        state.is_copy = text(meta, "forked_from_id").is_some();
    }
}

/// Detects where the copied lines of a fork end. Ids of threads and turns begin with a time, so the id of a copied turn
/// is smaller than the id of the fork's thread. Turns without ids are assumed to be the fork's own.
fn read_turn_context(context: &Value, state: &mut ReaderState) {
    if state.is_copy {
        state.is_copy = text(context, "turn_id").is_some_and(|turn| Some(turn) < state.thread.as_deref());
    }
}

fn usage_of_record(line: &Value, record: &Value, state: &mut ReaderState) -> Option<MessageUsage> {
    let (thread, response) = (text(record, "thread_id")?, text(record, "response_id")?);
    state.has_ids = true;
    if state.thread.as_deref().is_some_and(|own| own != thread) {
        return None;
    }
    Some(MessageUsage {
        id: format!("{thread}/{response}"),
        time: time(line)?,
        tokens: tokens(record.get("usage")?),
        is_subagent: state.is_subagent,
    })
}

/// Reads a `token_count` event. Returns `None` if the usage must not be counted: the line is copied from the thread
/// that this one was forked from, a `token_usage_record` came before it, or the event repeats the previous total. Codex
/// repeats the event when rate limits change.
fn usage_of_count(line: &Value, info: &Value, state: &mut ReaderState) -> Option<MessageUsage> {
    let thread = state.thread.as_deref()?;
    let total = info.pointer("/total_token_usage/total_tokens")?.as_u64()?;
    if state.has_ids || state.is_copy || state.total.replace(total) == Some(total) {
        return None;
    }
    Some(MessageUsage {
        id: format!("{thread}/{total}"),
        time: time(line)?,
        tokens: tokens(info.get("last_token_usage")?),
        is_subagent: state.is_subagent,
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

/// Returns the outcome of a command if the line contains the command's exit code. The payload of the hook after a
/// command contains only the output; when Codex calls that hook, the exit code is already in the rollout.
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

/// Returns the mode of a turn if the line is that turn's record. Codex writes this record to the rollout before it
/// calls the hook for the turn's prompt.
fn mode(line: &Value, turn: &str) -> Option<Value> {
    let payload = line.get("payload").filter(|_| kind(line) == "turn_context")?;
    let is_of_turn = payload.get("turn_id").and_then(Value::as_str) == Some(turn);
    is_of_turn.then(|| payload.pointer("/collaboration_mode/mode").cloned().unwrap_or_default())
}
