//! Operators of parameter expansions: `${x:0:4}`, `${x%.rs}`, `${x,,}`, `${x/a/b}`.

use super::Value;
use super::pattern::Pattern;
use crate::syntax::escape;

/// Longer values are not matched with patterns, because a pattern is tried at each position of the value.
const MAX_MATCHED: usize = 256;

/// Applies an operator to a value. Returns `None` if the result is not known.
pub(super) fn apply_operator(value: &Value, operator: &str) -> Option<Value> {
    let with = |text: &str| Value { text: text.into(), ..value.clone() };
    let text = &*value.text;
    // The length of the home directory's path, and how it starts, are not known.
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
    if let Some(end) = operator.strip_prefix("%%").or_else(|| operator.strip_prefix('%')).filter(is_literal) {
        return Some(with(text.strip_suffix(end).unwrap_or(text)));
    }
    if let Some(start) = operator.strip_prefix("##").or_else(|| operator.strip_prefix('#')).filter(is_literal) {
        return Some(with(text.strip_prefix(start).unwrap_or(text)));
    }
    // A pattern cannot be matched against a placeholder.
    if operator.starts_with(['%', '#']) && !value.is_placeholder && !value.glob && text.len() <= MAX_MATCHED {
        return without_match(value, operator).map(with);
    }
    if let Some(replacing) = operator.strip_prefix('/') {
        return with_replacement(text, replacing).map(|text| with(&text));
    }
    if operator == "@E" {
        return escape::decode(text).map(|text| with(&text));
    }
    with_case(text, operator).map(|text| with(&text))
}

/// Removes the prefix or suffix that a pattern matches.
fn without_match<'v>(value: &'v Value, operator: &str) -> Option<&'v str> {
    let text = &*value.text;
    let side = operator.chars().next()?;
    let (is_longest, pattern) = match operator.get(1..)?.strip_prefix(side) {
        Some(pattern) => (true, pattern),
        None => (false, operator.get(1..)?),
    };
    let pattern = Pattern::of(pattern)?;
    let mut split_points: Vec<usize> = text.char_indices().map(|(index, _)| index).chain([text.len()]).collect();
    let is_end = side == '%';
    // Depending on the operator, the shortest or the longest match is tried first.
    if is_end != is_longest {
        split_points.reverse();
    }
    let parts = split_points.into_iter().filter_map(|index| text.split_at_checked(index));
    let mut parts = parts.map(|(start, end)| if is_end { (end, start) } else { (start, end) });
    let rest = parts.find(|(matched, _)| pattern.matches(matched)).map_or(text, |(_, rest)| rest);
    // The path of the home directory, for which `~` stands, contains slashes itself.
    (!value.tilde || !is_longest && !rest.is_empty()).then_some(rest)
}

/// True if an operand has neither glob characters nor expansions.
fn is_literal(text: &&str) -> bool {
    !text.contains(['*', '?', '[', '$', '`', '\\', '"', '\''])
}

/// Applies a replacement: `a/b` replaces the first match, `/a/b` all matches, `#a/b` a prefix, `%a/b` a suffix.
fn with_replacement(text: &str, replacing: &str) -> Option<String> {
    let (kind, rest) = match replacing.chars().next()? {
        kind @ ('/' | '#' | '%') => (kind, replacing.get(1..)?),
        _ => (' ', replacing),
    };
    let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
    // With `shopt -s patsub_replacement`, `&` stands for the match.
    let is_plain = !from.is_empty() && is_literal(&from) && is_literal(&to) && !to.contains('&');
    is_plain.then(|| match kind {
        '/' => text.replace(from, to),
        '#' => text.strip_prefix(from).map_or_else(|| text.to_owned(), |rest| format!("{to}{rest}")),
        '%' => text.strip_suffix(from).map_or_else(|| text.to_owned(), |rest| format!("{rest}{to}")),
        _ => text.replacen(from, to, 1),
    })
}

/// `,,`, `@L`, `^^` and `@U` convert all letters; `,`, `^` and `@u` convert the first.
fn with_case(text: &str, operator: &str) -> Option<String> {
    let first = |convert: fn(&str) -> String| {
        let end = text.chars().next().map_or(0, char::len_utf8);
        let (first, rest) = text.split_at(end);
        format!("{}{rest}", convert(first))
    };
    Some(match operator {
        ",," | "@L" => text.to_lowercase(),
        "^^" | "@U" => text.to_uppercase(),
        "," => first(str::to_lowercase),
        "^" | "@u" => first(str::to_uppercase),
        _ => return None,
    })
}
