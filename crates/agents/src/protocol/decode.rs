//! Decodes a payload into an [`Event`]. Adapters first rename the agent's fields to the canonical ones.
//!
//! Unknown fields are kept in `extra` and are not an error. From an unreadable payload, the envelope is extracted, so
//! that the failure can be answered in the event's format. No rule is judged here.

use engine::event::{CallOutcome, ToolCall};
use engine::{Event, EventKind};
use serde_json::{Map, Value};

use super::payload_fields::{OWN_TOOL_NAME, rename_fields, take_bool, take_string};
use super::{broken_payload, event_names, paths};
use crate::Adapter;

/// The maximum size of a payload in bytes. Larger ones are not parsed.
pub const PAYLOAD_LIMIT: usize = 16 * 1024 * 1024;

/// A payload that could not be decoded.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct Undecodable {
    /// The event with the fields that could be read. If the payload cannot be parsed, these are at most the event's
    /// kind and name, the session, the working directory, and the tool's name.
    pub partial: Event,
    pub why: String,
}

/// A tool call as it is in the payload, before the agent's names are converted to the canonical ones.
pub(crate) struct RawCall<'a> {
    pub name: String,
    pub input: Value,
    pub cwd: &'a str,
}

/// Decodes a payload. Also fails if a tool call waits for permission and the payload contains no absolute working
/// directory. `event_argument`: the event's name in the hook's command line, used if the payload has none.
pub(crate) fn decode(
    adapter: &Adapter,
    event_argument: Option<&str>,
    payload: &[u8],
    received: i64,
) -> Result<Event, Box<Undecodable>> {
    let undecodable = |why: String| {
        Box::new(Undecodable {
            partial: partial_event(adapter, event_argument, payload, received),
            why: format!("the payload {why}"),
        })
    };
    if payload.len() > PAYLOAD_LIMIT {
        return Err(undecodable(format!("has more than {} MiB", PAYLOAD_LIMIT / (1024 * 1024))));
    }
    let fields = match parse(payload) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err(undecodable("is not a JSON object".to_owned())),
        Err(error) => return Err(undecodable(format!("is not readable JSON: {error}"))),
    };
    let event = event_from_fields(adapter, event_argument, fields, received);
    if event.kind.awaits_permission() && (!paths::is_absolute(&event.cwd) || event.cwd.contains('\0')) {
        return Err(Box::new(Undecodable {
            partial: event,
            why: "the payload names no working directory, so Linchpin can't tell which files the call means".to_owned(),
        }));
    }
    Ok(event)
}

/// Parses JSON. Escapes of lone surrogates, which `serde_json` does not accept, become U+FFFD. `serde_json` limits
/// nesting to 128 levels.
fn parse(payload: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(payload).or_else(|error| match with_lone_surrogates_replaced(payload) {
        Some(repaired) => serde_json::from_slice(&repaired),
        None => Err(error),
    })
}

/// Replaces escapes of lone surrogates by U+FFFD; `None` if there are no such escapes. JavaScript strings may contain
/// half of a surrogate pair, and `JSON.stringify` writes it as an escape. When JavaScript writes such a string to a
/// file or a pipe, it writes U+FFFD too.
fn with_lone_surrogates_replaced(payload: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = Vec::new();
    let mut rest = payload;
    let mut found = false;
    while let Some(backslash) = rest.iter().position(|byte| *byte == b'\\') {
        let (before, escape) = rest.split_at(backslash);
        repaired.extend_from_slice(before);
        let (taken, replacement) = match surrogate(escape) {
            Some(Surrogate::High) if matches!(escape.get(6..).and_then(surrogate), Some(Surrogate::Low)) => (12, None),
            Some(_) => (6, Some(br"\ufffd")),
            None => (2, None),
        };
        let (escape, after) = escape.split_at(taken.min(escape.len()));
        match replacement {
            Some(replacement) => {
                found = true;
                repaired.extend_from_slice(replacement);
            }
            None => repaired.extend_from_slice(escape),
        }
        rest = after;
    }
    repaired.extend_from_slice(rest);
    found.then_some(repaired)
}

enum Surrogate {
    High,
    Low,
}

/// Reads a `\uXXXX` escape of a surrogate at the start of the bytes.
fn surrogate(bytes: &[u8]) -> Option<Surrogate> {
    let digits = bytes.strip_prefix(br"\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Surrogate::High),
        0xDC00..=0xDFFF => Some(Surrogate::Low),
        _ => None,
    }
}

fn event_from_fields(
    adapter: &Adapter,
    event_argument: Option<&str>,
    mut fields: Map<String, Value>,
    received: i64,
) -> Event {
    rename_fields(&mut fields, adapter.fields);
    let reported_name = take_string(&mut fields, "hook_event_name");
    let (name, mut kind) =
        event_names::name_and_kind(adapter.events, reported_name.as_deref().or(event_argument).unwrap_or_default());
    if let Some(adjust_payload) = adapter.adjust_payload {
        kind = adjust_payload(&name, kind, &mut fields);
    }
    let roots = fields.get("workspace_roots").and_then(Value::as_array).into_iter().flatten();
    // No directory has a name with a NUL byte. Such a name is ignored.
    let is_possible = |directory: &str| !directory.is_empty() && !directory.contains('\0');
    let mut session_directories: Vec<String> =
        roots.filter_map(Value::as_str).filter(|root| is_possible(root)).map(str::to_owned).collect();
    // If `cwd` is empty or missing, the first of the agent's `workspace_roots` is used.
    let reported_cwd = take_string(&mut fields, "cwd")
        .filter(|directory| is_possible(directory))
        .or_else(|| session_directories.first().cloned());
    let reported_cwd = reported_cwd.unwrap_or_default();
    let tool = take_tool(adapter, kind, &mut fields, &reported_cwd);
    let cwd = tool
        .as_ref()
        .and_then(|tool| working_directory(adapter, tool))
        .map(|directory| paths::absolute(&reported_cwd, directory));
    let cwd = cwd.unwrap_or_else(|| reported_cwd.clone());
    if session_directories.is_empty() {
        session_directories.push(reported_cwd);
    }
    // The event has no need to name its only directory twice.
    if matches!(session_directories.as_slice(), [only] if *only == cwd) {
        session_directories.clear();
    }
    let outcome = match (kind, &tool) {
        (EventKind::AfterTool, Some(tool)) => (adapter.outcome)(tool),
        (EventKind::ToolFailed, _) => Some(CallOutcome::Failed),
        _ => None,
    };
    Event {
        kind,
        name,
        agent: adapter.name.to_owned(),
        session: take_string(&mut fields, "session_id").unwrap_or_default(),
        time: received,
        session_directories,
        cwd,
        tool,
        outcome,
        prompt: take_string(&mut fields, "prompt"),
        message: take_string(&mut fields, "last_assistant_message").or_else(|| take_string(&mut fields, "message")),
        held_before: take_bool(&mut fields, "stop_hook_active"),
        is_dry_run: false,
        subagent: take_string(&mut fields, "agent_id"),
        transcript: take_string(&mut fields, "transcript_path"),
        extra: fields,
    }
}

/// Takes the tool call out of the fields. An event of a tool call without a tool name still yields a call, with an
/// empty name, so that the call is judged.
fn take_tool(adapter: &Adapter, kind: EventKind, fields: &mut Map<String, Value>, cwd: &str) -> Option<ToolCall> {
    let is_tool_event =
        matches!(kind, EventKind::BeforeTool | EventKind::AfterTool | EventKind::ToolFailed | EventKind::Permission);
    let name = take_string(fields, "tool_name");
    if !is_tool_event && name.is_none() {
        return None;
    }
    let input = fields.shift_remove("tool_input").unwrap_or_default();
    let mut tool = (adapter.convert_call)(RawCall { name: name.unwrap_or_default(), input, cwd });
    tool.aliases.extend(take_string(fields, OWN_TOOL_NAME));
    tool.id = take_string(fields, "tool_use_id");
    tool.output = match kind {
        EventKind::ToolFailed => fields.shift_remove("tool_response").or_else(|| fields.shift_remove("error")),
        _ => fields.shift_remove("tool_response"),
    };
    Some(tool)
}

/// Returns the working directory from the arguments of a shell call, if it is one of them.
fn working_directory<'t>(adapter: &Adapter, tool: &'t ToolCall) -> Option<&'t str> {
    tool.shell.as_ref()?;
    tool.input.get(adapter.directory_argument?)?.as_str()
}

fn partial_event(adapter: &Adapter, event_argument: Option<&str>, payload: &[u8], received: i64) -> Event {
    let envelope = broken_payload::scan(payload, adapter.fields);
    let (name, kind) = event_names::name_and_kind(
        adapter.events,
        envelope.hook_event_name.as_deref().or(event_argument).unwrap_or_default(),
    );
    let cwd = envelope.cwd.or(envelope.workspace_roots).unwrap_or_default();
    let tool = envelope.tool_name.map(|name| (adapter.convert_call)(RawCall { name, input: Value::Null, cwd: &cwd }));
    Event {
        kind,
        name,
        session: envelope.session_id.unwrap_or_default(),
        cwd,
        tool,
        ..Event::unknown(adapter.name, received)
    }
}

#[cfg(test)]
mod tests;
