//! Writes the text about an unmet file rule.

use std::collections::HashSet;

use super::{FileMatch, Status, TriggeringFile};

/// The maximum number of lines in a list.
const MAX_LINES: usize = 20;
/// The maximum number of file names or values that replace one placeholder. The limit leaves room in the message for
/// the texts of other rules.
const MAX_NAMES: usize = 50;

/// Lists each missing file with its trigger, one pair per line. If no file is missing, lists only the triggers. The
/// number of lines is limited.
pub fn list_missing(file_match: &FileMatch) -> String {
    let line = |(trigger, missing): (&str, &str)| format!("{} → {}", escaped(trigger), escaped(missing));
    let mut lines: Vec<String> = file_match.pairs().map(line).collect();
    if lines.is_empty() {
        let line = |trigger: &TriggeringFile| match trigger.safety.as_slice() {
            [] => escaped(&trigger.path),
            safety => format!("{} ({})", escaped(&trigger.path), satisfied_by(safety)),
        };
        lines = file_match.triggers.iter().map(line).collect();
    }
    shorten(&mut lines, MAX_LINES);
    if !file_match.safety.is_empty() {
        lines.push(format!("({})", satisfied_by(&file_match.safety)));
    }
    lines.join("\n")
}

/// A hint that names the `safety` files whose change would satisfy the trigger; `None` if there are no such files.
pub fn safety_hint(trigger: &TriggeringFile, file_match: &FileMatch) -> Option<String> {
    let safety = if trigger.safety.is_empty() { &file_match.safety } else { &trigger.safety };
    (!safety.is_empty()).then(|| satisfied_by(safety))
}

fn satisfied_by(paths: &[String]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| escaped(path)).collect();
    format!("changing {} satisfies it", paths.join(" or "))
}

/// Escapes control characters, so that a line break in a file name does not begin a new line of the message.
pub fn escaped(path: &str) -> String {
    let escape = |character: char| {
        if character.is_control() { character.escape_default().to_string() } else { character.to_string() }
    };
    if path.chars().any(char::is_control) { path.chars().map(escape).collect() } else { path.to_owned() }
}

fn shorten(texts: &mut Vec<String>, limit: usize) {
    let rest = texts.len().saturating_sub(limit);
    texts.truncate(limit);
    if rest > 0 {
        texts.push(format!("and {rest} more"));
    }
}

/// Replaces each `{name}` by the string that `value` returns for the name. If `value` returns `None`, `{name}` stays.
pub fn fill_placeholders(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let replaced = after.split_once('}').and_then(|(name, after)| Some((value(name)?, after)));
        rest = if let Some((value, after)) = replaced {
            filled.push_str(&value);
            after
        } else {
            filled.push('{');
            after
        };
    }
    filled.push_str(rest);
    filled
}

/// The values of placeholders in a rule's text.
pub struct Placeholders<'a>(pub &'a FileMatch);

impl Placeholders<'_> {
    /// Fills all placeholders in one pass, so that braces in values are not interpreted. Other braces stay unchanged.
    pub fn fill(&self, text: &str) -> String {
        fill_placeholders(text, |name| self.value(name))
    }

    fn value(&self, name: &str) -> Option<String> {
        let file_match = self.0;
        let mut texts: Vec<String> = match name {
            "trigger_files" => file_match.trigger_files().map(escaped).collect(),
            "expected_files" => {
                let for_one_trigger =
                    file_match.triggers.iter().flat_map(|trigger| &trigger.safety).map(|path| escaped(path));
                let safety: Vec<String> = file_match.safety.iter().cloned().chain(for_one_trigger).collect();
                if safety.is_empty() { file_match.missing_files().into_iter().map(escaped).collect() } else { safety }
            }
            "created_files" => {
                let created = file_match.triggers.iter().filter(|trigger| trigger.status == Status::Added);
                created.map(|trigger| escaped(&trigger.path)).collect()
            }
            "missing" => file_match
                .pairs()
                .map(|(trigger, missing)| format!("{} → {}", escaped(trigger), escaped(missing)))
                .collect(),
            _ => {
                let mut known = HashSet::new();
                let values = file_match.triggers.iter().filter_map(|trigger| trigger.captures.get(name));
                let values: Vec<String> = values.filter(|value| known.insert(*value)).map(escaped).collect();
                if values.is_empty() {
                    return None;
                }
                values
            }
        };
        shorten(&mut texts, MAX_NAMES);
        Some(texts.join(", "))
    }
}
