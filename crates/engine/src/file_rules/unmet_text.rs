//! The text of an unmet file rule.

use std::collections::HashSet;

use super::{FileMatch, Status, TriggeringFile};

/// Maximum number of lines in a list.
const MAX_LINES: usize = 20;
/// Maximum number of names that replace a placeholder, so that other rules have room in the message.
const MAX_NAMES: usize = 50;

/// Lists each missing file with its trigger, or only the triggers if they have no missing files. One per line, limited
/// in number.
pub fn list_missing(found: &FileMatch) -> String {
    let line = |(trigger, missing): (&str, &str)| format!("{} → {}", escaped(trigger), escaped(missing));
    let mut lines: Vec<String> = found.pairs().map(line).collect();
    if lines.is_empty() {
        let line = |trigger: &TriggeringFile| match trigger.safety.as_slice() {
            [] => escaped(&trigger.path),
            safety => format!("{} ({})", escaped(&trigger.path), answered_by(safety)),
        };
        lines = found.triggers.iter().map(line).collect();
    }
    shorten(&mut lines, MAX_LINES);
    if !found.safety.is_empty() {
        lines.push(format!("({})", answered_by(&found.safety)));
    }
    lines.join("\n")
}

/// A hint that names the `safety` files whose change would satisfy the trigger; `None` if the rule has no such files.
pub fn safety_hint(trigger: &TriggeringFile, found: &FileMatch) -> Option<String> {
    let safety = if trigger.safety.is_empty() { &found.safety } else { &trigger.safety };
    (!safety.is_empty()).then(|| answered_by(safety))
}

fn answered_by(paths: &[String]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| escaped(path)).collect();
    format!("changing {} satisfies it", paths.join(" or "))
}

/// Escapes control characters, so that a file name cannot pass for another line of the message.
pub fn escaped(path: &str) -> String {
    let escape =
        |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() };
    if path.chars().any(char::is_control) { path.chars().map(escape).collect() } else { path.to_owned() }
}

fn shorten(texts: &mut Vec<String>, limit: usize) {
    let rest = texts.len().saturating_sub(limit);
    texts.truncate(limit);
    if rest > 0 {
        texts.push(format!("and {rest} more"));
    }
}

/// Replaces each `{name}` that has a value.
pub fn fill_placeholders(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let named = after.split_once('}').and_then(|(name, after)| Some((value(name)?, after)));
        rest = if let Some((value, after)) = named {
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
    /// Fills all placeholders in one pass, so values are never interpreted. Other braces stay unchanged.
    pub fn fill(&self, text: &str) -> String {
        fill_placeholders(text, |name| self.value(name))
    }

    fn value(&self, name: &str) -> Option<String> {
        let found = self.0;
        let mut texts: Vec<String> = match name {
            "trigger_files" => found.trigger_files().map(escaped).collect(),
            "expected_files" => {
                let of_each = found.triggers.iter().flat_map(|trigger| &trigger.safety).map(|path| escaped(path));
                let safety: Vec<String> = found.safety.iter().cloned().chain(of_each).collect();
                if safety.is_empty() { found.expected_files().into_iter().map(escaped).collect() } else { safety }
            }
            "created_files" => {
                let created = found.triggers.iter().filter(|trigger| trigger.status == Status::Added);
                created.map(|trigger| escaped(&trigger.path)).collect()
            }
            "missing" => {
                found.pairs().map(|(trigger, missing)| format!("{} → {}", escaped(trigger), escaped(missing))).collect()
            }
            _ => {
                let mut known = HashSet::new();
                let values = found.triggers.iter().filter_map(|trigger| trigger.captures.get(name));
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
