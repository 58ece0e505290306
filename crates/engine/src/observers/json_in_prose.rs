//! Finds JSON objects embedded in prose.
//!
//! Tools for language models answer in sentences and append their result as JSON, with or without a code block.

use serde_json::Value;

/// The maximum length of a text that is searched.
const LENGTH_LIMIT: usize = 64 * 1024;
/// The maximum number of braces at which parsing is tried. Each attempt may read the text to its end without a result.
const TRIES_LIMIT: usize = 32;

/// All top-level JSON objects in the text, in order.
pub(super) fn objects(text: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    if text.len() > LENGTH_LIMIT {
        return objects;
    }
    let mut rest = text;
    for _ in 0..TRIES_LIMIT {
        let Some(start) = rest.find('{') else { break };
        rest = rest.get(start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        // The search continues after the object, or after the brace if no object begins at the brace.
        let end = match values.next() {
            Some(Ok(value)) => {
                objects.push(value);
                values.byte_offset()
            }
            _ => 1,
        };
        rest = rest.get(end..).unwrap_or_default();
    }
    objects
}
