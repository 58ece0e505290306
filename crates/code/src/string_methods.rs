//! Evaluates methods of strings and lists whose result is a constant, such as `split`, `join` and `strip`.

use super::arguments::Arguments;
use super::value::Value;
use super::{Language, MAX_BYTES};

/// Returns the result of a method. If the result cannot be determined, returns `None` or an unknown value.
pub(super) fn string_method(language: Language, receiver: &Value, name: &str, arguments: &Arguments) -> Option<Value> {
    let constants = constant_arguments(arguments)?;
    match (receiver, name) {
        (Value::Strings(strings), "split") => {
            let [string] = strings.as_slice() else { return None };
            split(language, string, &constants)
        }
        (Value::Strings(_), "join") if language == Language::Python => match arguments.positional.as_slice() {
            [Value::List(parts)] => Some(join(parts, receiver.only_string()?)),
            _ => None,
        },
        (Value::List(parts), "join") => match (constants.as_slice(), language) {
            ([], Language::JavaScript) => Some(join(parts, ",")),
            ([], _) => Some(join(parts, "")),
            ([Some(separator)], _) => Some(join(parts, separator)),
            _ => None,
        },
        (Value::Strings(strings), _) => {
            let constants: Vec<&str> = constants.into_iter().collect::<Option<_>>()?;
            strings
                .iter()
                .map(|string| transform(language, string, name, &constants))
                .collect::<Option<_>>()
                .map(Value::Strings)
        }
        // The result for a partly known string is known only if the method does not change the string.
        (Value::PartlyKnown { strings, .. }, _) => {
            let constants: Vec<&str> = constants.into_iter().collect::<Option<_>>()?;
            let is_same = |string: &String| transform(language, string, name, &constants).as_ref() == Some(string);
            strings.iter().all(is_same).then(|| receiver.clone())
        }
        (Value::FileContent(_), "encode" | "decode") => is_plain_encoding(&constants).then(|| receiver.clone()),
        (Value::FileContent(_), "read") if constants.is_empty() => Some(receiver.clone()),
        (Value::FileContent(_), "open") => Some(receiver.clone()),
        _ => None,
    }
}

/// Returns the arguments; `None` for each that is not constant. Returns `None` if there are keyword arguments.
fn constant_arguments(arguments: &Arguments) -> Option<Vec<Option<&str>>> {
    arguments.named.is_empty().then(|| arguments.positional.iter().map(Value::only_string).collect())
}

fn transform(language: Language, string: &str, name: &str, constants: &[&str]) -> Option<String> {
    let is_python = language == Language::Python;
    let is_one_of = |characters: &str| {
        let characters = characters.to_owned();
        move |character: char| characters.contains(character)
    };
    let changed = match (name, constants) {
        ("toString" | "to_s" | "to_str" | "valueOf" | "freeze" | "dup" | "clone", []) => string,
        ("encode" | "decode", _) => {
            let constants: Vec<Option<&str>> = constants.iter().copied().map(Some).collect();
            Some(string)
                .filter(|string| is_plain_encoding(&constants) && (constants.is_empty() || string.is_ascii()))?
        }
        ("strip" | "trim", []) => string.trim(),
        ("lstrip" | "trimStart", []) => string.trim_start(),
        ("rstrip" | "trimEnd", []) => string.trim_end(),
        ("strip", [characters]) if is_python => string.trim_matches(is_one_of(characters)),
        ("lstrip", [characters]) if is_python => string.trim_start_matches(is_one_of(characters)),
        ("rstrip", [characters]) if is_python => string.trim_end_matches(is_one_of(characters)),
        ("chomp", []) => ["\r\n", "\n", "\r"].into_iter().find_map(|end| string.strip_suffix(end)).unwrap_or(string),
        ("removesuffix" | "delete_suffix", [end]) => string.strip_suffix(end).unwrap_or(string),
        ("removeprefix" | "delete_prefix", [start]) => string.strip_prefix(start).unwrap_or(string),
        ("lower" | "toLowerCase" | "downcase", []) => return Some(string.to_lowercase()),
        ("upper" | "toUpperCase" | "upcase", []) => return Some(string.to_uppercase()),
        ("reverse", []) if language == Language::Ruby => return Some(string.chars().rev().collect()),
        ("replace", [from, to]) if is_python => return replace_all(string, from, to),
        // A replacement with `$` is not supported, because `$` refers to the text that was found.
        ("replaceAll", [from, to]) if !to.contains('$') => return replace_all(string, from, to),
        ("replace", [from, to]) if language == Language::JavaScript && !to.contains('$') => {
            return Some(string.replacen(from, to, 1));
        }
        _ => return None,
    };
    Some(changed.to_owned())
}

fn replace_all(string: &str, from: &str, to: &str) -> Option<String> {
    let is_within_limit = string.len().saturating_mul(to.len().max(1)) <= MAX_BYTES;
    (is_within_limit && !from.is_empty()).then(|| string.replace(from, to))
}

/// True for encodings that do not change ASCII strings.
fn is_plain_encoding(constants: &[Option<&str>]) -> bool {
    let is_plain = |name: &str| {
        let name = name.to_ascii_lowercase().replace('_', "-");
        matches!(name.as_str(), "utf-8" | "utf8" | "ascii" | "us-ascii" | "latin-1" | "latin1" | "iso-8859-1")
    };
    match constants {
        [] => true,
        // The second argument says how errors are handled.
        [Some(name)] | [Some(name), Some("strict" | "ignore" | "replace")] => is_plain(name),
        _ => false,
    }
}

fn split(language: Language, string: &str, constants: &[Option<&str>]) -> Option<Value> {
    let parts: Vec<&str> = match constants {
        [] if language == Language::JavaScript => vec![string],
        [] => string.split_whitespace().collect(),
        [Some(" ")] if language == Language::Ruby => string.split_whitespace().collect(),
        [Some("")] => return (language != Language::Python).then(|| characters(string)),
        [Some(separator)] => string.split(separator).collect(),
        _ => return None,
    };
    Some(Value::List(parts.into_iter().map(Value::string).collect()))
}

/// Removes the indentation that all lines have in common.
pub(super) fn dedent(string: &str) -> String {
    let is_blank = |line: &str| line.trim().is_empty();
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = string.lines().filter(|line| !is_blank(line)).map(indent).min().unwrap_or_default();
    let dedent_line = |line: &str| line.get(common..).filter(|_| !is_blank(line)).unwrap_or_default().to_owned();
    string.split('\n').map(dedent_line).collect::<Vec<_>>().join("\n")
}

fn characters(string: &str) -> Value {
    Value::List(string.chars().map(Value::string).collect())
}

fn join(parts: &[Value], separator: &str) -> Value {
    let Some((first, rest)) = parts.split_first() else { return Value::string("") };
    let separator = Value::string(separator);
    rest.iter().fold(first.clone(), |string, part| string.joined(&separator, "").joined(part, ""))
}
