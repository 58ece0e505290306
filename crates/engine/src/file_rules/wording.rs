//! What an agent reads of a file rule that is not met.

use std::collections::HashSet;

use super::{FileMatch, Status, TriggeringFile};

/// More lines than this help nobody.
const LISTED: usize = 20;
/// More names than this in a sentence leave no room for the other rules.
const FILLED_IN: usize = 50;

/// The pairs of a rule that is not met, or its files, a line each; the rest is counted.
pub fn listed(found: &FileMatch) -> String {
    let line = |(trigger, missing): (&str, &str)| format!("{} → {}", shown(trigger), shown(missing));
    let mut lines: Vec<String> = found.pairs().map(line).collect();
    if lines.is_empty() {
        let line = |trigger: &TriggeringFile| match trigger.safety.as_slice() {
            [] => shown(&trigger.path),
            safety => format!("{} ({})", shown(&trigger.path), answered_by(safety)),
        };
        lines = found.triggers.iter().map(line).collect();
    }
    shorten(&mut lines, LISTED);
    if !found.safety.is_empty() {
        lines.push(format!("({})", answered_by(&found.safety)));
    }
    lines.join("\n")
}

/// The files of `safety` whose change would answer for a trigger, if the rule has any.
pub fn how_answered(trigger: &TriggeringFile, found: &FileMatch) -> Option<String> {
    let safety = if trigger.safety.is_empty() { &found.safety } else { &trigger.safety };
    (!safety.is_empty()).then(|| answered_by(safety))
}

fn answered_by(paths: &[String]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    format!("a change of {} answers it", paths.join(" or "))
}

/// A name in one line: what a name says must not look like what a rule says.
pub fn shown(path: &str) -> String {
    let escape =
        |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() };
    if path.chars().any(char::is_control) { path.chars().map(escape).collect() } else { path.to_owned() }
}

fn shorten(texts: &mut Vec<String>, most: usize) {
    let rest = texts.len().saturating_sub(most);
    texts.truncate(most);
    if rest > 0 {
        texts.push(format!("and {rest} more"));
    }
}

/// The text with a value in the place of every `{name}` that has one.
pub fn filled(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
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

/// What the placeholders of a rule's text stand for.
pub struct Placeholders<'a>(pub &'a FileMatch);

impl Placeholders<'_> {
    /// The text with every placeholder filled in, in one pass: what is filled in is text and nothing else. Braces around
    /// anything else stay as they are.
    pub fn fill(&self, text: &str) -> String {
        filled(text, |name| self.value(name))
    }

    fn value(&self, name: &str) -> Option<String> {
        let found = self.0;
        let mut texts: Vec<String> = match name {
            "trigger_files" => found.trigger_files().map(shown).collect(),
            "expected_files" => {
                let of_each = found.triggers.iter().flat_map(|trigger| &trigger.safety).map(|path| shown(path));
                let safety: Vec<String> = found.safety.iter().cloned().chain(of_each).collect();
                if safety.is_empty() { found.expected_files().into_iter().map(shown).collect() } else { safety }
            }
            "created_files" => {
                let created = found.triggers.iter().filter(|trigger| trigger.status == Status::Added);
                created.map(|trigger| shown(&trigger.path)).collect()
            }
            "missing" => {
                found.pairs().map(|(trigger, missing)| format!("{} → {}", shown(trigger), shown(missing))).collect()
            }
            _ => {
                let mut known = HashSet::new();
                let values = found.triggers.iter().filter_map(|trigger| trigger.captures.get(name));
                let values: Vec<String> = values.filter(|value| known.insert(*value)).map(shown).collect();
                if values.is_empty() {
                    return None;
                }
                values
            }
        };
        shorten(&mut texts, FILLED_IN);
        Some(texts.join(", "))
    }
}
