//! All objects in the arguments of a call. Servers and proxies nest arguments in various ways, and some encode them as
//! JSON strings.

use serde_json::{Map, Value};

/// The maximum nesting depth; no tool needs more.
const MAX_DEPTH: usize = 4;
const MAX_OBJECTS: usize = 1024;

/// Returns all objects, outermost first.
pub(super) fn all(input: &Value) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    let mut level = vec![unwrapped(input)];
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for value in std::mem::take(&mut level) {
            match value {
                Value::Object(fields) if found.len() < MAX_OBJECTS => {
                    next.extend(fields.values().filter(|value| may_hold(value)).map(unwrapped));
                    found.push(fields);
                }
                Value::Array(items) => next.extend(items.iter().filter(|value| may_hold(value)).map(unwrapped)),
                _ => {}
            }
        }
        level = next;
    }
    found
}

fn may_hold(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Array(_) => true,
        Value::String(text) => text.trim_start().starts_with('{'),
        _ => false,
    }
}

/// Returns the value, or the object that a string encodes.
fn unwrapped(value: &Value) -> Value {
    let of_text = |text: &String| serde_json::from_str(text).ok().filter(Value::is_object);
    match value {
        Value::String(text) => of_text(text).unwrap_or_default(),
        other => other.clone(),
    }
}
