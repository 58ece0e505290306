//! What methods of texts give. What is not understood here is unknown, and never the text that it is called on.

use super::arguments::Arguments;
use super::value::Value;
use super::{Language, MAX_BYTES};

/// None where it is no method of texts that is known here.
pub(super) fn of_text(language: Language, receiver: &Value, name: &str, arguments: &Arguments) -> Option<Value> {
    let given = constants(arguments)?;
    match (receiver, name) {
        (Value::Texts(texts), "split") => {
            let [text] = texts.as_slice() else { return None };
            split(language, text, &given)
        }
        (Value::Texts(_), "join") if language == Language::Python => match arguments.positional.as_slice() {
            [Value::List(parts)] => Some(joined(parts, receiver.only_text()?)),
            _ => None,
        },
        (Value::List(parts), "join") => match (given.as_slice(), language) {
            ([], Language::Node) => Some(joined(parts, ",")),
            ([], _) => Some(joined(parts, "")),
            ([Some(between)], _) => Some(joined(parts, between)),
            _ => None,
        },
        (Value::Texts(texts), _) => {
            let given: Vec<&str> = given.into_iter().collect::<Option<_>>()?;
            texts.iter().map(|text| changed(language, text, name, &given)).collect::<Option<_>>().map(Value::Texts)
        }
        // Of a path that is known in part, only what keeps it as it is.
        (Value::Like { texts, .. }, _) => {
            let given: Vec<&str> = given.into_iter().collect::<Option<_>>()?;
            let is_same = |text: &String| changed(language, text, name, &given).as_ref() == Some(text);
            texts.iter().all(is_same).then(|| receiver.clone())
        }
        (Value::Content(_), "encode" | "decode") => is_plain_encoding(&given).then(|| receiver.clone()),
        (Value::Content(_), "read") if given.is_empty() => Some(receiver.clone()),
        (Value::Content(_), "open") => Some(receiver.clone()),
        _ => None,
    }
}

/// What is given, each as its constant; none where something is given by a name, whose meaning nobody knows here.
fn constants(arguments: &Arguments) -> Option<Vec<Option<&str>>> {
    arguments.named.is_empty().then(|| arguments.positional.iter().map(Value::only_text).collect())
}

fn changed(language: Language, text: &str, name: &str, given: &[&str]) -> Option<String> {
    let is_python = language == Language::Python;
    let among = |letters: &str| {
        let letters = letters.to_owned();
        move |letter: char| letters.contains(letter)
    };
    let changed = match (name, given) {
        ("toString" | "to_s" | "to_str" | "valueOf" | "freeze" | "dup" | "clone", []) => text,
        ("encode" | "decode", _) => {
            let given: Vec<Option<&str>> = given.iter().copied().map(Some).collect();
            Some(text).filter(|text| is_plain_encoding(&given) && (given.is_empty() || text.is_ascii()))?
        }
        ("strip" | "trim", []) => text.trim(),
        ("lstrip" | "trimStart", []) => text.trim_start(),
        ("rstrip" | "trimEnd", []) => text.trim_end(),
        ("strip", [letters]) if is_python => text.trim_matches(among(letters)),
        ("lstrip", [letters]) if is_python => text.trim_start_matches(among(letters)),
        ("rstrip", [letters]) if is_python => text.trim_end_matches(among(letters)),
        ("chomp", []) => ["\r\n", "\n", "\r"].into_iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text),
        ("removesuffix" | "delete_suffix", [end]) => text.strip_suffix(end).unwrap_or(text),
        ("removeprefix" | "delete_prefix", [start]) => text.strip_prefix(start).unwrap_or(text),
        ("lower" | "toLowerCase" | "downcase", []) => return Some(text.to_lowercase()),
        ("upper" | "toUpperCase" | "upcase", []) => return Some(text.to_uppercase()),
        ("reverse", []) if language == Language::Ruby => return Some(text.chars().rev().collect()),
        ("replace", [from, to]) if is_python => return replaced(text, from, to),
        // A dollar sign stands for what was found.
        ("replaceAll", [from, to]) if !to.contains('$') => return replaced(text, from, to),
        ("replace", [from, to]) if language == Language::Node && !to.contains('$') => {
            return Some(text.replacen(from, to, 1));
        }
        _ => return None,
    };
    Some(changed.to_owned())
}

fn replaced(text: &str, from: &str, to: &str) -> Option<String> {
    let is_small = text.len().saturating_mul(to.len().max(1)) <= MAX_BYTES;
    (is_small && !from.is_empty()).then(|| text.replace(from, to))
}

/// One that leaves plain letters as they are.
fn is_plain_encoding(given: &[Option<&str>]) -> bool {
    let is_plain = |name: &str| {
        let name = name.to_ascii_lowercase().replace('_', "-");
        matches!(name.as_str(), "utf-8" | "utf8" | "ascii" | "us-ascii" | "latin-1" | "latin1" | "iso-8859-1")
    };
    match given {
        [] => true,
        // The second says how errors are dealt with.
        [Some(name)] | [Some(name), Some("strict" | "ignore" | "replace")] => is_plain(name),
        _ => false,
    }
}

fn split(language: Language, text: &str, given: &[Option<&str>]) -> Option<Value> {
    let parts: Vec<&str> = match given {
        [] if language == Language::Node => vec![text],
        [] => text.split_whitespace().collect(),
        [Some(" ")] if language == Language::Ruby => text.split_whitespace().collect(),
        [Some("")] => return (language != Language::Python).then(|| letters(text)),
        [Some(between)] => text.split(between).collect(),
        _ => return None,
    };
    Some(Value::List(parts.into_iter().map(Value::text).collect()))
}

/// Without the white space that all its lines begin with.
pub(super) fn dedented(text: &str) -> String {
    let is_blank = |line: &str| line.trim().is_empty();
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = text.lines().filter(|line| !is_blank(line)).map(indent).min().unwrap_or_default();
    let line = |line: &str| line.get(common..).filter(|_| !is_blank(line)).unwrap_or_default().to_owned();
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn letters(text: &str) -> Value {
    Value::List(text.chars().map(Value::text).collect())
}

fn joined(parts: &[Value], between: &str) -> Value {
    let Some((first, rest)) = parts.split_first() else { return Value::text("") };
    let between = Value::text(between);
    rest.iter().fold(first.clone(), |text, part| text.joined(&between, "").joined(part, ""))
}
