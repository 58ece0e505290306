//! Changes to the fields of a payload, for adapters of several agents.

use serde_json::{Map, Value};

/// The field in which an adapter keeps the agent's own name of a tool after it has replaced that name.
pub(crate) const OWN_TOOL_NAME: &str = "own_tool_name";

/// Removes a field and returns its string. Returns `None` if the field is missing or not a string. A value that is
/// neither a string nor `null` stays in the fields, and so ends up in `Event::extra`.
pub(crate) fn take_string(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match fields.get(key)? {
        Value::String(_) | Value::Null => {}
        _ => return None,
    }
    match fields.shift_remove(key)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Removes a field and returns its boolean. Returns false if the field is missing or not a boolean. A value that is not
/// a boolean stays in the fields.
pub(crate) fn take_bool(fields: &mut Map<String, Value>, key: &str) -> bool {
    let Some(Value::Bool(value)) = fields.get(key) else { return false };
    let value = *value;
    fields.shift_remove(key);
    value
}

/// Renames fields from the agent's names to the canonical ones. If a payload has both names with different values, it
/// is unknown which value the agent uses, so the value becomes null, as if it were missing.
pub(crate) fn rename_fields(fields: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (own, name) in names {
        let Some(value) = fields.shift_remove(*own) else { continue };
        let is_ambiguous = fields.get(*name).is_some_and(|other| *other != value);
        fields.insert((*name).to_owned(), if is_ambiguous { Value::Null } else { value });
    }
}

/// Replaces a string that contains a JSON object or array by that object or array. Some agents encode fields twice.
pub(crate) fn parse_embedded_json(fields: &mut Map<String, Value>, key: &str) {
    if let Some(Value::String(text)) = fields.get(key)
        && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        fields.insert(key.to_owned(), value);
    }
}

/// Sets the field that says that an earlier stop of the same turn was held, whether or not that is true. This is for
/// agents that do not report it reliably. The holds of all turns of the session are then counted together.
pub(crate) fn count_holds_per_session(fields: &mut Map<String, Value>) {
    fields.insert("stop_hook_active".to_owned(), Value::Bool(true));
}
