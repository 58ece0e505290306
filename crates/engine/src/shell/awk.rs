//! What a program text of `awk` runs: `system("…")`, and what it pipes to and from.

use std::collections::BTreeSet;

/// Variables that hold commands. To find what each is set to is to go through all of the text.
const MAX_NAMES: usize = 64;

/// Each a text for a shell; `None` for one that is no constant.
pub(super) fn commands(code: &str) -> Vec<Option<String>> {
    let mut commands = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("system") {
        rest = rest.get(at + "system".len()..).unwrap_or_default();
        let Some(argument) = rest.trim_start().strip_prefix('(') else { continue };
        let constant = literal(argument.trim_start()).filter(|(_, behind)| behind.trim_start().starts_with(')'));
        commands.push(constant.map(|(text, _)| text));
    }
    // `print | "cmd"`, `"cmd" | getline`; `||` is something else.
    let mut names = BTreeSet::new();
    let (mut looked_at, mut is_in_regex, mut is_in_string) = (0, false, false);
    for (at, _) in code.match_indices('|') {
        let (before, behind) = (code.get(..at).unwrap_or_default(), code.get(at + 1..).unwrap_or_default());
        let since = code.get(looked_at..at).unwrap_or_default();
        (is_in_regex, is_in_string) = (is_in_regex ^ has_odd_slashes(since), is_in_string ^ has_odd_quotes(since));
        looked_at = at;
        if before.ends_with('|') || behind.starts_with('|') || is_in_regex {
            continue;
        }
        if let Some((text, _)) = literal(behind.trim_start_matches('&').trim_start()) {
            commands.push(Some(text));
        } else if behind.trim_start().starts_with("getline") {
            let start = before.trim_end().strip_suffix('"').and_then(|before| before.rfind('"'));
            let text = start.and_then(|start| literal(before.get(start..)?)).map(|(text, _)| text);
            commands.push(text);
        } else if let Some(name) = name(behind).filter(|_| !is_in_string) {
            names.insert(name);
        }
    }
    if names.len() > MAX_NAMES {
        commands.push(None);
        names.clear();
    }
    commands.extend(names.into_iter().flat_map(|name| values(code, name)));
    commands
}

/// The variable at the beginning of a text.
fn name(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['&', ' ']);
    let length = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len());
    text.get(..length).filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

/// The constants that a variable is set to anywhere; `None` for what is no constant.
fn values(code: &str, name: &str) -> Vec<Option<String>> {
    let is_end = |before: &str| !before.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_');
    let set = code.match_indices(name).filter_map(|(at, _)| {
        let (before, behind) = (code.get(..at)?, code.get(at + name.len()..)?);
        let value = behind.trim_start().strip_prefix('=').filter(|value| !value.starts_with('=') && is_end(before))?;
        Some(literal(value.trim_start()).map(|(text, _)| text))
    });
    let set: Vec<_> = set.collect();
    if set.is_empty() { vec![None] } else { set }
}

/// Behind which a string begins or ends.
fn has_odd_quotes(text: &str) -> bool {
    text.replace("\\\"", "").matches('"').count() % 2 == 1
}

/// Behind which a regular expression begins or ends.
fn has_odd_slashes(text: &str) -> bool {
    text.matches('/').count() % 2 == 1
}

/// A string constant, and what follows it.
fn literal(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut letters = inside.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, inside.get(at + 1..)?)),
            '\\' => value.push(letters.next()?.1),
            _ => value.push(letter),
        }
    }
    None
}
