//! Finds JSON objects embedded in prose.
//!
//! Tools for language models answer in sentences and append their result as JSON, with or without a code block.

use serde_json::Value;

/// Longer texts are not searched.
const LENGTH_LIMIT: usize = 64 * 1024;
/// Maximum number of braces from which parsing is tried; each attempt may scan to the end of the text without a result.
const TRIES_LIMIT: usize = 32;

/// All top-level JSON objects in the text, in order.
pub(super) fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    if text.len() > LENGTH_LIMIT {
        return found;
    }
    let mut rest = text;
    for _ in 0..TRIES_LIMIT {
        let Some(start) = rest.find('{') else { break };
        rest = rest.get(start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        // Continue after the object, or after the brace if it starts no object.
        let end = match values.next() {
            Some(Ok(value)) => {
                found.push(value);
                values.byte_offset()
            }
            _ => 1,
        };
        rest = rest.get(end..).unwrap_or_default();
    }
    found
}
