//! `jq -r .a.b` and `jq -nr '"x"'`: one member of a JSON text, or a constant.

use serde_json::Value;

use crate::model::SimpleCommand;
use crate::programs::{Argument, Arguments, Role};

pub(super) fn printed(command: &SimpleCommand, arguments: &Arguments, text: &str) -> Option<String> {
    let is_known = |name: &str| matches!(name, "-n" | "-r" | "-j" | "-c" | "-e" | "-M");
    let filters: Vec<&Argument> = arguments.with_roles.iter().filter(|argument| argument.role == Role::Data).collect();
    let [filter] = filters.as_slice() else { return None };
    let filter = command.text_from(filter.word, filter.from)?.trim();
    if !arguments.flags.iter().all(|flag| is_known(&flag.name)) {
        return None;
    }
    let constant = || serde_json::from_str(filter).ok().filter(|_| !filter.contains("\\("));
    let value: Value = if filter.starts_with('.') {
        let whole: Value = serde_json::from_str(text).ok().filter(|_| !arguments.has_flag(&["-n"]))?;
        whole.pointer(&pointer(filter)?)?.clone()
    } else {
        constant().filter(|_| arguments.has_flag(&["-n"]) || !text.is_empty())?
    };
    let shown = match value {
        Value::String(text) if arguments.has_flag(&["-r", "-j"]) => text,
        Value::Array(_) | Value::Object(_) => return None,
        value => value.to_string(),
    };
    Some(shown + "\n")
}

/// Returns the JSON pointer of the member that a filter selects: `/a/0` for `.a[0]`.
fn pointer(filter: &str) -> Option<String> {
    // A quoted key may contain special characters, and is not supported.
    let filter = Some(filter).filter(|filter| !filter.contains('"'))?;
    let path = filter.trim_start_matches('.').replace('[', ".").replace(']', "");
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    let parts: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).collect();
    parts.iter().all(|part| is_part(part)).then(|| parts.iter().flat_map(|part| ["/", part]).collect())
}
