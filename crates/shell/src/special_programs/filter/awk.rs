//! `awk '{print $2}'` and `awk 'BEGIN{print "x"}'`: a single action that prints only fields and constants.

use crate::model::SimpleCommand;
use crate::programs::{Argument, Arguments, Role};

/// A part of the text that the action prints.
enum Part<'p> {
    Text(&'p str),
    /// A field, counted from 1; 0 is the whole line.
    Field(usize),
    /// The last field.
    LastField,
    /// The space that a comma between two parts prints.
    Space,
}

pub(super) fn printed(command: &SimpleCommand, arguments: &Arguments, text: &str) -> Option<String> {
    let codes: Vec<&Argument> = arguments.with_roles.iter().filter(|argument| argument.role == Role::Code).collect();
    let [code] = codes.as_slice() else { return None };
    let program = command.text_from(code.word, code.from)?.trim();
    let (is_begin_block, action) = match program.strip_prefix("BEGIN") {
        Some(action) => (true, action),
        None => (false, program),
    };
    let action = action.trim().strip_prefix('{')?.strip_suffix('}')?.trim().trim_end_matches(';');
    let parts = parts(action.strip_prefix("print")?)?;
    let mut separator = None;
    for flag in &arguments.flags {
        let value = flag.value.and_then(|value| command.text_from(value.word, value.from));
        // A longer separator is a regex, and a single space stands for any whitespace.
        let is_single_character = |text: &&str| text.chars().count() == 1 && *text != " ";
        separator = Some(value.filter(|_| flag.is("-F") || flag.is("--field-separator")).filter(is_single_character)?);
    }
    if is_begin_block {
        let is_constant = |part: &Part<'_>| matches!(part, Part::Text(_) | Part::Space);
        return parts.iter().all(is_constant).then(|| line(&parts, "", &[]));
    }
    let fields = |line: &str| match separator {
        Some(separator) => line.split(separator).map(str::to_owned).collect(),
        None => line.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
    };
    (!text.is_empty()).then(|| text.lines().map(|text| line(&parts, text, &fields(text))).collect())
}

fn line(parts: &[Part<'_>], whole: &str, fields: &[String]) -> String {
    let text = |part: &Part<'_>| match part {
        Part::Text(text) => (*text).to_owned(),
        Part::Space => " ".to_owned(),
        Part::LastField => fields.last().cloned().unwrap_or_default(),
        Part::Field(0) => whole.to_owned(),
        Part::Field(number) => fields.get(number - 1).cloned().unwrap_or_default(),
    };
    parts.iter().map(text).collect::<String>() + "\n"
}

/// Reads constants, fields and commas; `None` for anything else.
fn parts(mut text: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else { break };
        let rest = text.get(first.len_utf8()..)?;
        match first {
            '"' => {
                let (constant, after) = rest.split_once('"').filter(|(constant, _)| !constant.contains('\\'))?;
                parts.push(Part::Text(constant));
                text = after;
            }
            ',' => {
                parts.push(Part::Space);
                text = rest;
            }
            '$' => {
                let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                let (field, after) = rest.split_at_checked(length)?;
                parts.push(if field == "NF" { Part::LastField } else { Part::Field(field.parse().ok()?) });
                text = after;
            }
            _ => return None,
        }
    }
    if parts.is_empty() {
        parts.push(Part::Field(0));
    }
    Some(parts)
}
