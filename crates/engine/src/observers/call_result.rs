//! What a tool call gave, read through the wrappings that agents, MCP servers and proxies put around it.
//!
//! A call can fail in more ways than its agent notices: a server may answer in good order that it could not do what it was
//! asked. Whatever says failure counts as one.

use serde_json::Value;

use super::json_in_prose;
use crate::event::{CallOutcome, Event, EventKind, ToolCall};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallResult {
    /// What the tool itself answered, out of its wrappings.
    Given(Value),
    Failed,
}

impl CallResult {
    /// None where no result has arrived: then nothing is known of the call.
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
        if says_failed(output) {
            return Some(Self::Failed);
        }
        let answer = unwrapped(output);
        if says_failed(&answer) {
            return Some(Self::Failed);
        }
        if !is_proxied(call) {
            return Some(Self::Given(answer));
        }
        // A proxy answers with a wrapping of its own.
        let answer = match &answer {
            Value::Object(fields) => fields.get("result").map_or_else(|| answer.clone(), unwrapped),
            _ => answer,
        };
        Some(if says_failed(&answer) { Self::Failed } else { Self::Given(answer) })
    }

    /// The same, where JSON between the words of the answer counts as part of it. Only for tools that answer about what
    /// they did: in the text of any other, JSON may be an example of anything.
    pub(super) fn with_prose(self) -> Self {
        let Self::Given(answer) = self else { return self };
        let said: Vec<Value> = match &answer {
            Value::String(text) => json_in_prose::objects(text),
            Value::Array(blocks) => blocks.iter().filter_map(Value::as_str).flat_map(json_in_prose::objects).collect(),
            _ => return Self::Given(answer),
        };
        if said.iter().any(says_failed) {
            Self::Failed
        } else {
            Self::Given([answer].into_iter().chain(said).collect())
        }
    }
}

/// Whether the call only passes another one on.
pub(super) fn is_proxied(call: &ToolCall) -> bool {
    call.mcp.len() > 1
}

/// The content blocks of an MCP result become what they hold, text that is JSON becomes what it says.
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

/// Only what is a dictionary, a list or `null` is taken for JSON: a number may as well be text.
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

fn says_failed(value: &Value) -> bool {
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
                || content.is_some_and(says_failed)
        }
        // Several content blocks: one that says so will do.
        Value::Array(items) if is_content(items) => items.iter().map(block).any(|item| says_failed(&item)),
        Value::String(text) => text.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("error:")),
        _ => false,
    }
}
