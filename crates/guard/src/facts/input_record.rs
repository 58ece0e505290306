//! Selects the fields of a tool call's input that are recorded with a judgement. A field is recorded if a rule used it,
//! the field is small, and it holds no content (text that people or agents wrote). All recorded fields of an input
//! together are limited too.
//!
//! This module both writes and reads the record, because both must use the same format. The journal entry has the
//! recorded fields in `fields`. Two facts of the entry describe the fields that are not there. `event.input` is `whole`
//! if a rule used the whole input and no field was left out (or if the input had no fields), else `some`.
//! `event.input.absent` lists the fields that rules asked for and that the input did not have.

use std::collections::BTreeSet;

use engine::event::{ShellText, ToolCall};
use engine::facts::EventPart;
use serde_json::{Map, Value, json};
use store::JournalEntry;
use store::mask::MASK;

/// The maximum size of one recorded field in bytes of JSON. Larger fields mostly hold content, and rules rarely use
/// content.
const FIELD_LIMIT: usize = 1024;
/// The maximum size of all recorded fields of one input together.
const INPUT_LIMIT: usize = 8 * 1024;

/// Fields in which tools pass text that people or agents wrote.
const CONTENT_FIELDS: &[&str] = &[
    "body",
    "content",
    "contents",
    "diff",
    "edits",
    "file_text",
    "insert_text",
    "message",
    "messages",
    "new_source",
    "new_str",
    "new_string",
    "old_str",
    "old_string",
    "output",
    "patch",
    "prompt",
    "text",
];
/// The first line of a patch. A field that contains this line is not recorded.
const PATCH: &str = "*** Begin Patch";

const COMPLETENESS_FACT: &str = "event.input";
const WHOLE: &str = "whole";
const SOME: &str = "some";
const ABSENT_FIELDS_FACT: &str = "event.input.absent";

/// If some fields of an input were not recorded, the input that is restored from the journal gets a field of this name.
const UNRECORDED_FIELDS: &str = "…";

/// Which fields of one tool call's input rules used, or whether they used the whole input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsedInput {
    fields: BTreeSet<String>,
    uses_whole_input: bool,
    is_used: bool,
}

impl UsedInput {
    /// Notes that a rule used this part of the event.
    pub fn add_use(&mut self, part: EventPart<'_>) {
        match part {
            EventPart::InputField(field) => {
                self.fields.insert(field.to_owned());
            }
            EventPart::Input => self.uses_whole_input = true,
            EventPart::HasInput => {}
            _ => return,
        }
        self.is_used = true;
    }

    pub fn merge(&mut self, other: Self) {
        self.fields.extend(other.fields);
        self.uses_whole_input |= other.uses_whole_input;
        self.is_used |= other.is_used;
    }

    /// Adds the fields that must be recorded to `fields`, and the facts about the other fields to `facts`. Both are
    /// parts of the journal entry. Does nothing if no rule used the input.
    pub fn record(&self, call: &ToolCall, fields: &mut Map<String, Value>, facts: &mut Map<String, Value>) {
        let Some(input) = call.input.as_object().filter(|_| self.is_used) else { return };
        let wanted = input.iter().filter(|(name, _)| self.uses_whole_input || self.fields.contains(*name));
        let mut remaining_size = INPUT_LIMIT;
        let mut is_any_omitted = false;
        for (name, value) in wanted {
            if is_command(name, value, call) {
                // The journal entry contains the command already, outside of `fields`.
                continue;
            }
            match recordable_size(name, value).and_then(|size| remaining_size.checked_sub(size)) {
                Some(new_remaining_size) => {
                    remaining_size = new_remaining_size;
                    fields.insert(name.clone(), value.clone());
                }
                None => is_any_omitted = true,
            }
        }
        let is_whole = input.is_empty() || (self.uses_whole_input && !is_any_omitted);
        facts.insert(COMPLETENESS_FACT.to_owned(), json!(if is_whole { WHOLE } else { SOME }));
        let absent = self.fields.iter().filter(|name| !input.contains_key(*name) && is_field_name(name));
        let absent: Vec<&String> = absent.collect();
        if !is_whole && !absent.is_empty() {
            facts.insert(ABSENT_FIELDS_FACT.to_owned(), json!(absent));
        }
    }
}

/// True if the text looks like a field name. Expressions may ask for a field of any name, and a text that does not look
/// like a field name must not get into the journal.
fn is_field_name(text: &str) -> bool {
    const MAX_LENGTH: usize = 64;
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    text.len() <= MAX_LENGTH && text.chars().all(is_allowed)
}

/// True if the field contains the call's command.
fn is_command(name: &str, value: &Value, call: &ToolCall) -> bool {
    name == "command" && matches!(&call.shell, Some(ShellText::Command(text)) if value == text)
}

/// True if the field, or one nested in it, holds content.
fn holds_content(name: &str, value: &Value) -> bool {
    CONTENT_FIELDS.contains(&name.to_ascii_lowercase().as_str())
        || match value {
            Value::Object(fields) => fields.iter().any(|(name, value)| holds_content(name, value)),
            Value::Array(items) => items.iter().any(|item| holds_content("", item)),
            _ => false,
        }
}

/// The size of the field in the record; `None` if the field must not be recorded, because it is too large or holds
/// content.
fn recordable_size(name: &str, value: &Value) -> Option<usize> {
    if holds_content(name, value) {
        return None;
    }
    let json = value.to_string();
    (json.len() <= FIELD_LIMIT && !json.contains(PATCH)).then(|| name.len() + json.len())
}

/// The input as far as it was recorded, for judging an event again.
pub fn recorded_input(entry: &JournalEntry) -> Value {
    let mut input = entry.fields.clone();
    if let Some(command) = &entry.tool.command
        && !input.contains_key("command")
    {
        input.insert("command".to_owned(), json!(command));
    }
    if !is_whole(entry) {
        input.insert(UNRECORDED_FIELDS.to_owned(), Value::Null);
    }
    Value::Object(input)
}

/// If a part of the input was not recorded, or contains a masked secret, returns the name of the missing fact; `None`
/// if the part is there. `input` is the result of [`recorded_input`].
pub fn missing_part(part: EventPart<'_>, input: &Value, entry: &JournalEntry) -> Option<String> {
    let is_recorded = match part {
        EventPart::InputField(field) => {
            let is_absent = || {
                let absent = entry.facts.get(ABSENT_FIELDS_FACT).and_then(Value::as_array);
                absent.is_some_and(|names| names.iter().any(|name| name == field))
            };
            input.get(field).is_some() || is_whole(entry) || is_absent()
        }
        EventPart::HasInput => {
            entry.facts.contains_key(COMPLETENESS_FACT)
                || !entry.fields.is_empty()
                || entry.tool.command.is_some()
                || is_whole(entry)
        }
        _ => is_whole(entry),
    };
    let is_masked = match part {
        EventPart::InputField(field) => input.get(field).is_some_and(is_masked),
        EventPart::HasInput => false,
        _ => is_masked(input),
    };
    match (is_recorded, is_masked) {
        (false, _) => Some(part.name()),
        (true, true) => Some(masked_part_name(part)),
        (true, false) => None,
    }
}

/// True if all fields of the input were recorded.
fn is_whole(entry: &JournalEntry) -> bool {
    entry.event.is_some() || entry.facts.get(COMPLETENESS_FACT).is_some_and(|completeness| completeness == WHOLE)
}

/// True if a secret in the value was masked.
pub fn is_masked(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MASK),
        Value::Array(items) => items.iter().any(is_masked),
        Value::Object(fields) => fields.values().any(is_masked),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The name of a part of the event in a list of missing facts. The part is missing because a secret in it was masked.
pub fn masked_part_name(part: EventPart<'_>) -> String {
    format!("{} (masked)", part.name())
}
