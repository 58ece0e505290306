//! What an operator of an expansion makes of a value: `${x:0:4}`, `${x%.rs}`, `${x,,}`, `${x/a/b}`.

use super::super::escape;
use super::Value;

/// `None` for anything that is a pattern, or whose result nobody knows.
pub(super) fn changed(value: &Value, operator: &str) -> Option<Value> {
    let with = |text: &str| Value { text: text.into(), ..value.clone() };
    let text = &*value.text;
    // How long a home folder's name is, and what it begins with, nobody knows.
    if value.tilde && !operator.starts_with('%') || operator.contains('~') {
        return None;
    }
    if let Some(range) = operator.strip_prefix(':') {
        let (from, length) = range.split_once(':').map_or((range, None), |(from, length)| (from, Some(length)));
        let count = text.chars().count();
        // `${x: -4}` counts from the end.
        let from = match from.trim().parse::<i64>().ok()? {
            from if from < 0 => count.checked_sub(usize::try_from(from.unsigned_abs()).ok()?)?,
            from => usize::try_from(from).ok()?,
        };
        let length = length.map_or(Some(usize::MAX), |length| length.trim().parse().ok())?;
        return Some(with(&text.chars().skip(from).take(length).collect::<String>()));
    }
    if let Some(end) = operator.strip_prefix("%%").or_else(|| operator.strip_prefix('%')).filter(is_text) {
        return Some(with(text.strip_suffix(end).unwrap_or(text)));
    }
    if let Some(start) = operator.strip_prefix("##").or_else(|| operator.strip_prefix('#')).filter(is_text) {
        return Some(with(text.strip_prefix(start).unwrap_or(text)));
    }
    if let Some(replacing) = operator.strip_prefix('/') {
        return replaced(text, replacing).map(|text| with(&text));
    }
    if operator == "@E" {
        return escape::decode(text).map(|text| with(&text));
    }
    in_case(text, operator).map(|text| with(&text))
}

/// No pattern, and nothing that is expanded.
fn is_text(text: &&str) -> bool {
    !text.contains(['*', '?', '[', '$', '`', '\\', '"', '\''])
}

/// `a/b` for the first, `/a/b` for all, `#a/b` at the beginning, `%a/b` at the end.
fn replaced(text: &str, replacing: &str) -> Option<String> {
    let (place, rest) = match replacing.chars().next()? {
        place @ ('/' | '#' | '%') => (place, replacing.get(1..)?),
        _ => (' ', replacing),
    };
    let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
    // `&` stands for what was found, where the shell is told so.
    let is_plain = !from.is_empty() && is_text(&from) && is_text(&to) && !to.contains('&');
    is_plain.then(|| match place {
        '/' => text.replace(from, to),
        '#' => text.strip_prefix(from).map_or_else(|| text.to_owned(), |rest| format!("{to}{rest}")),
        '%' => text.strip_suffix(from).map_or_else(|| text.to_owned(), |rest| format!("{rest}{to}")),
        _ => text.replacen(from, to, 1),
    })
}

/// `,,` and `^^` for all letters, `,` and `^` for the first; `@L` and `@U` are the same.
fn in_case(text: &str, operator: &str) -> Option<String> {
    let first = |changed: fn(&str) -> String| {
        let end = text.chars().next().map_or(0, char::len_utf8);
        let (first, rest) = text.split_at(end);
        format!("{}{rest}", changed(first))
    };
    Some(match operator {
        ",," | "@L" => text.to_lowercase(),
        "^^" | "@U" => text.to_uppercase(),
        "," => first(str::to_lowercase),
        "^" | "@u" => first(str::to_uppercase),
        _ => return None,
    })
}
