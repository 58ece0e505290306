//! JSON that stands between the words of a text.
//!
//! Tools made for models answer in sentences and put what they did below, in a code block or just so.

use serde_json::Value;

/// A longer text is no answer about one thing.
const LENGTH_LIMIT: usize = 64 * 1024;
/// How many braces are tried: each may lead to the end of the text and to nothing.
const TRIES_LIMIT: usize = 32;

/// Every JSON object in the text, in its order; those within others are part of them.
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
        // Past the object, or else past the brace.
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
