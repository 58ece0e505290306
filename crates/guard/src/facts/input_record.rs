//! Selects the fields of a tool call's input that are recorded with a judgement: fields that rules used, if they are
//! small and are not content (text that people or agents wrote).
//!
//! This module both writes and reads the record, because the two must agree. Recorded fields are in the entry's
//! `fields`. Two facts describe the fields that are missing: `event.input` is `whole` if the input had no other fields,
//! else `some`; `event.input.absent` lists fields that rules looked for and that the input did not have.

use std::collections::BTreeSet;

use engine::event::{ShellText, ToolCall};
use engine::facts::EventPart;
use serde_json::{Map, Value, json};
use store::JournalEntry;
use store::mask::MASK;

/// The maximum size of one field in bytes of JSON. Larger fields are mostly content, which rules rarely look at.
const FIELD_LIMIT: usize = 1024;
/// The maximum size of all fields of one input together.
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
const PATCH: &str = "*** Begin Patch";

const COMPLETENESS_FACT: &str = "event.input";
const WHOLE: &str = "whole";
const SOME: &str = "some";
const ABSENT_FIELDS_FACT: &str = "event.input.absent";

/// A placeholder field in a recorded input, for everything that was not recorded. Expressions that read it are
/// undecidable.
const UNRECORDED_FIELDS: &str = "…";

/// The fields of one tool call's input that rules used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsedInput {
    fields: BTreeSet<String>,
    uses_whole_input: bool,
    is_used: bool,
}

impl UsedInput {
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

    /// Adds the recordable fields to an entry's fields and facts.
    pub fn record(&self, call: &ToolCall, fields: &mut Map<String, Value>, facts: &mut Map<String, Value>) {
        let Some(input) = call.input.as_object().filter(|_| self.is_used) else { return };
        let wanted = input.iter().filter(|(name, _)| self.uses_whole_input || self.fields.contains(*name));
        let mut remaining_size = INPUT_LIMIT;
        let mut is_any_left_out = false;
        for (name, value) in wanted {
            if is_command(name, value, call) {
                // The entry has the command already.
                continue;
            }
            match recordable_size(name, value).and_then(|size| remaining_size.checked_sub(size)) {
                Some(size_left) => {
                    remaining_size = size_left;
                    fields.insert(name.clone(), value.clone());
                }
                None => is_any_left_out = true,
            }
        }
        let is_whole = input.is_empty() || (self.uses_whole_input && !is_any_left_out);
        facts.insert(COMPLETENESS_FACT.to_owned(), json!(if is_whole { WHOLE } else { SOME }));
        let absent = self.fields.iter().filter(|name| !input.contains_key(*name) && is_field_name(name));
        let absent: Vec<&String> = absent.collect();
        if !is_whole && !absent.is_empty() {
            facts.insert(ABSENT_FIELDS_FACT.to_owned(), json!(absent));
        }
    }
}

/// False for strings that do not look like a field name. Expressions may use any string as a field name, and such
/// strings must not get into the journal.
fn is_field_name(text: &str) -> bool {
    const MAX_LENGTH: usize = 64;
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    text.len() <= MAX_LENGTH && text.chars().all(is_allowed)
}

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

/// The size of the field in the record; `None` if it must not be recorded.
fn recordable_size(name: &str, value: &Value) -> Option<usize> {
    if holds_content(name, value) {
        return None;
    }
    let json = value.to_string();
    (json.len() <= FIELD_LIMIT && !json.contains(PATCH)).then(|| name.len() + json.len())
}

/// The recorded part of the input, for judging an event again.
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

/// Returns the name of the missing fact if a rule uses a part of a recorded input that was not recorded; `None` if
/// nothing is missing.
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

/// The name of a missing fact for a part with a masked secret.
pub fn masked_part_name(part: EventPart<'_>) -> String {
    format!("{} (masked)", part.name())
}
