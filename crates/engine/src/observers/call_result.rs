//! Extracts the result of a tool call from the envelopes that agents, MCP servers and proxies put around it.
//!
//! A call can fail without the agent noticing: a server may report a failure in a successful response. Any sign of
//! failure counts.

use serde_json::Value;

use super::json_in_prose;
use crate::event::{CallOutcome, Event, EventKind, ToolCall};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallResult {
    /// The tool's answer without envelopes.
    Success(Value),
    Failed,
}

impl CallResult {
    /// Returns `None` if the event has no result, so that the outcome of the call is unknown.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let call = event.tool.as_ref()?;
        match (event.kind, event.outcome) {
            (EventKind::ToolFailed, _) | (EventKind::AfterTool, Some(CallOutcome::Failed)) => {
                return Some(Self::Failed);
            }
            (EventKind::AfterTool, _) => {}
            _ => return None,
        }
        let output = call.output.as_ref().filter(|output| !output.is_null())?;
        if reports_failure(output) {
            return Some(Self::Failed);
        }
        let answer = unwrapped(output);
        if reports_failure(&answer) {
            return Some(Self::Failed);
        }
        if !is_proxied(call) {
            return Some(Self::Success(answer));
        }
        // A proxy adds its own envelope.
        let answer = match &answer {
            Value::Object(fields) => fields.get("result").map_or_else(|| answer.clone(), unwrapped),
            _ => answer,
        };
        Some(if reports_failure(&answer) { Self::Failed } else { Self::Success(answer) })
    }

    /// Adds JSON objects that are embedded in the answer's prose to the result. Suitable only for tools that report
    /// what they did: in the text of other tools, JSON may be an example of anything.
    pub(super) fn with_prose(self) -> Self {
        let Self::Success(answer) = self else { return self };
        let said: Vec<Value> = match &answer {
            Value::String(text) => json_in_prose::objects(text),
            Value::Array(blocks) => blocks.iter().filter_map(Value::as_str).flat_map(json_in_prose::objects).collect(),
            _ => return Self::Success(answer),
        };
        if said.iter().any(reports_failure) {
            Self::Failed
        } else {
            Self::Success([answer].into_iter().chain(said).collect())
        }
    }
}

/// True if the call forwards another call.
pub(super) fn is_proxied(call: &ToolCall) -> bool {
    call.mcp.len() > 1
}

/// Replaces the content blocks of an MCP result by their content, and JSON text by its value.
fn unwrapped(output: &Value) -> Value {
    match output {
        Value::Array(blocks) if is_content(blocks) => match blocks.as_slice() {
            [only] => block(only),
            several => several.iter().map(block).collect(),
        },
        Value::Object(fields) => {
            if let Some(structured) = fields.get("structuredContent").filter(|value| !value.is_null()) {
                return structured.clone();
            }
            match fields.get("content") {
                Some(Value::Array(blocks)) if is_content(blocks) || blocks.is_empty() => {
                    unwrapped(&Value::Array(blocks.clone()))
                }
                _ => output.clone(),
            }
        }
        Value::String(text) => parsed(text),
        other => other.clone(),
    }
}

fn is_content(blocks: &[Value]) -> bool {
    !blocks.is_empty() && blocks.iter().all(|block| block.get("type").is_some_and(Value::is_string))
}

fn block(block: &Value) -> Value {
    block.get("text").and_then(Value::as_str).map_or_else(|| block.clone(), parsed)
}

/// Parses only objects, arrays and `null` as JSON: a number may be plain text.
fn parsed(text: &str) -> Value {
    let trimmed = text.trim();
    if trimmed == "null" {
        return Value::Null;
    }
    if trimmed.starts_with(['{', '[']) {
        // `serde_json` refuses nesting over 128 levels by itself.
        if let Ok(value) = serde_json::from_str(trimmed) {
            return value;
        }
    }
    Value::String(text.to_owned())
}

fn reports_failure(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            let is = |key: &str, wanted: bool| fields.get(key) == Some(&Value::Bool(wanted));
            let has_error = fields.get("error").is_some_and(crate::expr::truthy);
            let content = fields.get("content").filter(|content| content.is_array());
            let code = ["exit_code", "exitCode"].into_iter().find_map(|key| fields.get(key)?.as_i64());
            is("is_error", true)
                || is("isError", true)
                || is("success", false)
                || has_error
                || fields.get("status").and_then(Value::as_str) == Some("error")
                || code.is_some_and(|code| code != 0)
                || content.is_some_and(reports_failure)
        }
        // One failing content block is enough.
        Value::Array(items) if is_content(items) => items.iter().map(block).any(|item| reports_failure(&item)),
        Value::String(text) => text.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("error:")),
        _ => false,
    }
}
