//! Formats JSON as a person would: short objects and lists are on one line, and each level is indented by two spaces.

use serde_json::Value;

pub(super) fn pretty(value: &Value) -> String {
    let lines = |open: char, items: Vec<String>, close: char| {
        let items: Vec<String> = items.iter().map(|item| format!("  {}", item.replace('\n', "\n  "))).collect();
        format!("{open}\n{}\n{close}", items.join(",\n"))
    };
    let member = |(key, value): (&String, &Value)| format!("{}: {}", Value::from(key.as_str()), pretty(value));
    match value {
        Value::Object(members) if !members.is_empty() => {
            let items: Vec<String> = members.iter().map(member).collect();
            if members.values().all(is_short) { format!("{{ {} }}", items.join(", ")) } else { lines('{', items, '}') }
        }
        Value::Array(elements) if !elements.is_empty() => {
            let items: Vec<String> = elements.iter().map(pretty).collect();
            if elements.iter().all(is_short) { format!("[{}]", items.join(", ")) } else { lines('[', items, ']') }
        }
        other => other.to_string(),
    }
}

/// True for a string, number, boolean or null, and for a list of only such values.
fn is_short(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(elements) => !elements.iter().any(|element| element.is_object() || element.is_array()),
        _ => true,
    }
}
