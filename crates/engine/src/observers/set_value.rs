//! The values under `set`: constants, or text with expressions between `{{` and `}}`.
//!
//! Only the text of policy files is parsed. The results of expressions are data, and are never parsed again.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::expr::{self, EvaluationError};
use crate::situation::Situation;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SetValue {
    /// A constant as JSON text; `null` unsets the variable.
    Constant(String),
    /// A single expression. The value has the type of the expression's result.
    Expression(String),
    /// Text with embedded expressions. The value is a string.
    Text(Vec<SetValuePart>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SetValuePart {
    Literal(String),
    Expression(String),
}

/// A syntax error and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SetValueError {
    pub span: Range<usize>,
    pub message: &'static str,
}

impl SetValue {
    pub fn constant(value: &Value) -> Self {
        Self::Constant(value.to_string())
    }

    /// Parses text with embedded expressions, and returns the span of each expression. The caller checks the
    /// expressions with [`expr::check`] once their scope is known.
    pub fn parse(text: &str) -> Result<(Self, Vec<Range<usize>>), SetValueError> {
        let mut parts = Vec::new();
        let mut spans = Vec::new();
        let mut at = 0;
        while let Some(opening) = find(text, at, "{{") {
            let start = opening + 2;
            let Some(end) = end_of_expression(text, start) else {
                return Err(SetValueError { span: opening..text.len(), message: "this `{{` is not closed" });
            };
            push_literal(text.get(at..opening), &mut parts);
            parts.push(SetValuePart::Expression(text.get(start..end).unwrap_or_default().to_owned()));
            spans.push(start..end);
            at = end + 2;
        }
        push_literal(text.get(at..), &mut parts);
        let value = match parts.as_slice() {
            [SetValuePart::Expression(only)] => Self::Expression(only.clone()),
            _ if spans.is_empty() => Self::constant(&Value::from(text)),
            _ => Self::Text(parts),
        };
        Ok((value, spans))
    }

    /// Evaluates the value; `None` unsets the variable.
    pub fn evaluate(&self, situation: &Arc<Situation>) -> Result<Option<Value>, EvaluationError> {
        let value = match self {
            // The constant was serialized from a value, so the constant can be parsed.
            Self::Constant(json) => serde_json::from_str(json).unwrap_or_default(),
            Self::Expression(source) => expr::evaluate(source, situation)?,
            Self::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        SetValuePart::Literal(literal) => text.push_str(literal),
                        SetValuePart::Expression(source) => push_value(&expr::evaluate(source, situation)?, &mut text),
                    }
                }
                Value::String(text)
            }
        };
        Ok((!value.is_null()).then_some(value))
    }
}

fn push_literal(text: Option<&str>, parts: &mut Vec<SetValuePart>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        parts.push(SetValuePart::Literal(text.to_owned()));
    }
}

/// Appends a value to a text. Null appends nothing, a string appends its content, and any other value appends its JSON.
fn push_value(value: &Value, text: &mut String) {
    match value {
        Value::Null => {}
        Value::String(value) => text.push_str(value),
        other => text.push_str(&other.to_string()),
    }
}

fn find(text: &str, from: usize, wanted: &str) -> Option<usize> {
    text.get(from..)?.find(wanted).map(|at| from + at)
}

/// The position of the first `}}` after `start` that is not inside of quotes or brackets. This `}}` ends the
/// expression.
fn end_of_expression(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut quote = None;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match quote {
            Some(_) if byte == b'\\' => at += 1,
            Some(open) if open == byte => quote = None,
            Some(_) => {}
            None => match byte {
                b'\'' | b'"' => quote = Some(byte),
                b'}' if depth == 0 => return (bytes.get(at + 1) == Some(&b'}')).then_some(at),
                b'{' | b'[' | b'(' => depth += 1,
                b'}' | b']' | b')' => depth = depth.saturating_sub(1),
                _ => {}
            },
        }
        at += 1;
    }
    None
}
