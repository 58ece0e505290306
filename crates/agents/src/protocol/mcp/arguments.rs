//! Finds the JSON objects in the arguments of a call, because servers and proxies nest arguments in various ways. Some
//! encode an object as a string of JSON.

use serde_json::{Map, Value};

/// How many levels of nested values are searched. No known tool needs more.
const MAX_DEPTH: usize = 4;
const MAX_OBJECTS: usize = 1024;

/// Returns the JSON objects in the input, outermost first: at most [`MAX_OBJECTS`], down to [`MAX_DEPTH`] levels.
pub(super) fn nested_objects(input: &Value) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    let mut level = vec![decode_object(input)];
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for value in std::mem::take(&mut level) {
            match value {
                Value::Object(fields) if found.len() < MAX_OBJECTS => {
                    next.extend(fields.values().filter(|value| may_contain_object(value)).map(decode_object));
                    found.push(fields);
                }
                Value::Array(items) => {
                    next.extend(items.iter().filter(|value| may_contain_object(value)).map(decode_object));
                }
                _ => {}
            }
        }
        level = next;
    }
    found
}

fn may_contain_object(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Array(_) => true,
        Value::String(text) => text.trim_start().starts_with('{'),
        _ => false,
    }
}

/// Returns a copy of the value. Instead of a string, returns the JSON object that the string contains, or null if the
/// string contains none.
fn decode_object(value: &Value) -> Value {
    let of_text = |text: &String| serde_json::from_str(text).ok().filter(Value::is_object);
    match value {
        Value::String(text) => of_text(text).unwrap_or_default(),
        other => other.clone(),
    }
}
