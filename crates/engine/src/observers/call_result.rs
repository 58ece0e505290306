//! Extracts the result of a tool call from the JSON objects that agents, MCP servers and proxies put around the result.
//!
//! A server may report a failure in a response that the agent considers successful. A call therefore counts as failed
//! if any of these objects reports a failure.

use serde_json::Value;

use super::json_in_prose;
use crate::event::{CallOutcome, Event, EventKind, ToolCall};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallResult {
    /// The call succeeded. The value is the answer of the tool itself.
    Success(Value),
    Failed,
}

impl CallResult {
    /// Returns the result of the call that the event reports; `None` if the event does not report a result.
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
        let answer = unwrap_output(output);
        if reports_failure(&answer) {
            return Some(Self::Failed);
        }
        if !is_proxied(call) {
            return Some(Self::Success(answer));
        }
        // A proxy puts its own JSON object around the tool's answer. This object is removed.
        let answer = match &answer {
            Value::Object(fields) => fields.get("result").map_or_else(|| answer.clone(), unwrap_output),
            _ => answer,
        };
        Some(if reports_failure(&answer) { Self::Failed } else { Self::Success(answer) })
    }

    /// Adds the JSON objects that are embedded in the answer's prose to the result. Calling this function is correct
    /// only for tools whose text reports what the tool did: in the text of another tool, a JSON object could be an
    /// example.
    pub(super) fn with_prose(self) -> Self {
        let Self::Success(answer) = self else { return self };
        let embedded: Vec<Value> = match &answer {
            Value::String(text) => json_in_prose::objects(text),
            Value::Array(blocks) => blocks.iter().filter_map(Value::as_str).flat_map(json_in_prose::objects).collect(),
            _ => return Self::Success(answer),
        };
        if embedded.iter().any(reports_failure) {
            Self::Failed
        } else {
            Self::Success([answer].into_iter().chain(embedded).collect())
        }
    }
}

/// True if the called tool is a proxy that forwards the call to another tool.
pub(super) fn is_proxied(call: &ToolCall) -> bool {
    call.mcp.len() > 1
}

/// Replaces the content blocks of an MCP result by their content, and JSON text by its value.
fn unwrap_output(output: &Value) -> Value {
    match output {
        Value::Array(blocks) if is_content(blocks) => match blocks.as_slice() {
            [only] => block_content(only),
            several => several.iter().map(block_content).collect(),
        },
        Value::Object(fields) => {
            if let Some(structured) = fields.get("structuredContent").filter(|value| !value.is_null()) {
                return structured.clone();
            }
            match fields.get("content") {
                Some(Value::Array(blocks)) if is_content(blocks) || blocks.is_empty() => {
                    unwrap_output(&Value::Array(blocks.clone()))
                }
                _ => output.clone(),
            }
        }
        Value::String(text) => parse_text(text),
        other => other.clone(),
    }
}

fn is_content(blocks: &[Value]) -> bool {
    !blocks.is_empty() && blocks.iter().all(|block| block.get("type").is_some_and(Value::is_string))
}

fn block_content(block: &Value) -> Value {
    block.get("text").and_then(Value::as_str).map_or_else(|| block.clone(), parse_text)
}

/// Parses a text that is a JSON object, array or `null`. Any other text, such as a number, stays text.
fn parse_text(text: &str) -> Value {
    let trimmed = text.trim();
    if trimmed == "null" {
        return Value::Null;
    }
    if trimmed.starts_with(['{', '[']) {
        // `serde_json` itself limits the nesting to 128 levels.
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
        // The answer reports a failure if at least one content block reports a failure.
        Value::Array(items) if is_content(items) => items.iter().map(block_content).any(|item| reports_failure(&item)),
        Value::String(text) => text.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("error:")),
        _ => false,
    }
}
