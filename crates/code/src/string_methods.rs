//! Methods of strings and lists with constant results. If the result cannot be computed, it is unknown, and never the
//! receiver.

use super::arguments::Arguments;
use super::value::Value;
use super::{Language, MAX_BYTES};

/// Returns `None` if the method is not known.
pub(super) fn string_method(language: Language, receiver: &Value, name: &str, arguments: &Arguments) -> Option<Value> {
    let given = constants(arguments)?;
    match (receiver, name) {
        (Value::Strings(strings), "split") => {
            let [string] = strings.as_slice() else { return None };
            split(language, string, &given)
        }
        (Value::Strings(_), "join") if language == Language::Python => match arguments.positional.as_slice() {
            [Value::List(parts)] => Some(joined(parts, receiver.only_string()?)),
            _ => None,
        },
        (Value::List(parts), "join") => match (given.as_slice(), language) {
            ([], Language::Node) => Some(joined(parts, ",")),
            ([], _) => Some(joined(parts, "")),
            ([Some(between)], _) => Some(joined(parts, between)),
            _ => None,
        },
        (Value::Strings(strings), _) => {
            let given: Vec<&str> = given.into_iter().collect::<Option<_>>()?;
            strings
                .iter()
                .map(|string| transformed(language, string, name, &given))
                .collect::<Option<_>>()
                .map(Value::Strings)
        }
        // A partly known path stays known only if the method does not change it.
        (Value::PartlyKnown { strings, .. }, _) => {
            let given: Vec<&str> = given.into_iter().collect::<Option<_>>()?;
            let is_same = |string: &String| transformed(language, string, name, &given).as_ref() == Some(string);
            strings.iter().all(is_same).then(|| receiver.clone())
        }
        (Value::FileContent(_), "encode" | "decode") => is_plain_encoding(&given).then(|| receiver.clone()),
        (Value::FileContent(_), "read") if given.is_empty() => Some(receiver.clone()),
        (Value::FileContent(_), "open") => Some(receiver.clone()),
        _ => None,
    }
}

/// Returns the arguments that are constants; `None` if there are keyword arguments, whose meaning is not known.
fn constants(arguments: &Arguments) -> Option<Vec<Option<&str>>> {
    arguments.named.is_empty().then(|| arguments.positional.iter().map(Value::only_string).collect())
}

fn transformed(language: Language, string: &str, name: &str, given: &[&str]) -> Option<String> {
    let is_python = language == Language::Python;
    let among = |letters: &str| {
        let letters = letters.to_owned();
        move |letter: char| letters.contains(letter)
    };
    let changed = match (name, given) {
        ("toString" | "to_s" | "to_str" | "valueOf" | "freeze" | "dup" | "clone", []) => string,
        ("encode" | "decode", _) => {
            let given: Vec<Option<&str>> = given.iter().copied().map(Some).collect();
            Some(string).filter(|string| is_plain_encoding(&given) && (given.is_empty() || string.is_ascii()))?
        }
        ("strip" | "trim", []) => string.trim(),
        ("lstrip" | "trimStart", []) => string.trim_start(),
        ("rstrip" | "trimEnd", []) => string.trim_end(),
        ("strip", [letters]) if is_python => string.trim_matches(among(letters)),
        ("lstrip", [letters]) if is_python => string.trim_start_matches(among(letters)),
        ("rstrip", [letters]) if is_python => string.trim_end_matches(among(letters)),
        ("chomp", []) => ["\r\n", "\n", "\r"].into_iter().find_map(|end| string.strip_suffix(end)).unwrap_or(string),
        ("removesuffix" | "delete_suffix", [end]) => string.strip_suffix(end).unwrap_or(string),
        ("removeprefix" | "delete_prefix", [start]) => string.strip_prefix(start).unwrap_or(string),
        ("lower" | "toLowerCase" | "downcase", []) => return Some(string.to_lowercase()),
        ("upper" | "toUpperCase" | "upcase", []) => return Some(string.to_uppercase()),
        ("reverse", []) if language == Language::Ruby => return Some(string.chars().rev().collect()),
        ("replace", [from, to]) if is_python => return replaced(string, from, to),
        // `$` in the replacement refers to the match.
        ("replaceAll", [from, to]) if !to.contains('$') => return replaced(string, from, to),
        ("replace", [from, to]) if language == Language::Node && !to.contains('$') => {
            return Some(string.replacen(from, to, 1));
        }
        _ => return None,
    };
    Some(changed.to_owned())
}

fn replaced(string: &str, from: &str, to: &str) -> Option<String> {
    let is_small = string.len().saturating_mul(to.len().max(1)) <= MAX_BYTES;
    (is_small && !from.is_empty()).then(|| string.replace(from, to))
}

/// True for encodings that leave ASCII unchanged.
fn is_plain_encoding(given: &[Option<&str>]) -> bool {
    let is_plain = |name: &str| {
        let name = name.to_ascii_lowercase().replace('_', "-");
        matches!(name.as_str(), "utf-8" | "utf8" | "ascii" | "us-ascii" | "latin-1" | "latin1" | "iso-8859-1")
    };
    match given {
        [] => true,
        // The second argument is the error handler.
        [Some(name)] | [Some(name), Some("strict" | "ignore" | "replace")] => is_plain(name),
        _ => false,
    }
}

fn split(language: Language, string: &str, given: &[Option<&str>]) -> Option<Value> {
    let parts: Vec<&str> = match given {
        [] if language == Language::Node => vec![string],
        [] => string.split_whitespace().collect(),
        [Some(" ")] if language == Language::Ruby => string.split_whitespace().collect(),
        [Some("")] => return (language != Language::Python).then(|| letters(string)),
        [Some(between)] => string.split(between).collect(),
        _ => return None,
    };
    Some(Value::List(parts.into_iter().map(Value::string).collect()))
}

/// Removes the indentation that all lines have in common.
pub(super) fn dedented(string: &str) -> String {
    let is_blank = |line: &str| line.trim().is_empty();
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = string.lines().filter(|line| !is_blank(line)).map(indent).min().unwrap_or_default();
    let line = |line: &str| line.get(common..).filter(|_| !is_blank(line)).unwrap_or_default().to_owned();
    string.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn letters(string: &str) -> Value {
    Value::List(string.chars().map(Value::string).collect())
}

fn joined(parts: &[Value], between: &str) -> Value {
    let Some((first, rest)) = parts.split_first() else { return Value::string("") };
    let between = Value::string(between);
    rest.iter().fold(first.clone(), |string, part| string.joined(&between, "").joined(part, ""))
}
