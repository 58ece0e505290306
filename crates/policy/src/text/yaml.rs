//! A YAML tree in which every key and value has its span in the file.
//!
//! Aliases are not supported, so that a part of a file can be understood by itself. Scalars are typed as in the YAML
//! 1.2 core schema: `on`, `no` and `off` are strings, and only `true` and `false` are booleans.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Spanned, budget, options};

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;

/// Maximum nesting: deeper than any policy needs, and safe for the stack.
const DEPTH_LIMIT: usize = 32;
const NODE_LIMIT: usize = 100_000;

#[derive(Debug, Clone, PartialEq)]
pub struct YamlNode {
    pub value: Yaml,
    /// The span in the file, in bytes.
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Yaml {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<YamlNode>),
    Map(Vec<(YamlKey, YamlNode)>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct YamlKey {
    pub text: String,
    pub span: Range<usize>,
}

impl Yaml {
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The type's name in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

impl YamlNode {
    pub fn to_json(&self) -> Value {
        match &self.value {
            Yaml::Null => Value::Null,
            Yaml::Bool(value) => Value::Bool(*value),
            Yaml::Number(number) => Value::Number(number.clone()),
            Yaml::Text(text) => Value::String(text.clone()),
            Yaml::List(items) => items.iter().map(Self::to_json).collect(),
            Yaml::Map(entries) => entries.iter().map(|(key, node)| (key.text.clone(), node.to_json())).collect(),
        }
    }
}

/// For each entry of a mapping that ends at `end`, an upper bound for its end: the start of the next entry.
pub fn entry_ends(entries: &[(YamlKey, YamlNode)], end: usize) -> Vec<usize> {
    entries.iter().skip(1).map(|(key, _)| key.span.start).chain([end]).collect()
}

/// Parses the YAML part of a file. Spans in the result and in errors are offsets in the whole file.
pub fn parse(source: &Source, part: Range<usize>) -> Result<YamlNode, Box<Diagnostic>> {
    let node = parse_with_duplicate_keys(source, part)?;
    match duplicate_key(&node, source) {
        Some(problem) => Err(Box::new(problem)),
        None => Ok(node),
    }
}

/// An error for the first key of the tree that its mapping already has.
pub fn duplicate_key(node: &YamlNode, source: &Source) -> Option<Diagnostic> {
    match &node.value {
        Yaml::List(items) => items.iter().find_map(|item| duplicate_key(item, source)),
        Yaml::Map(entries) => {
            let mut first_spans: HashMap<&str, &Range<usize>> = HashMap::new();
            entries.iter().find_map(|(key, value)| match first_spans.insert(&key.text, &key.span) {
                Some(first) => Some(duplicate_key_error(key, value, first, source)),
                None => duplicate_key(value, source),
            })
        }
        Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Text(_) => None,
    }
}

fn duplicate_key_error(key: &YamlKey, value: &YamlNode, first: &Range<usize>, source: &Source) -> Diagnostic {
    let (name, line) = (&key.text, source.position(first.start).line);
    let what_to_do = match value.value {
        Yaml::List(_) | Yaml::Map(_) => "add these entries to it",
        Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Text(_) => "keep one of them",
    };
    let message = format!("duplicate key `{name}`");
    Diagnostic::error(DiagnosticKind::DuplicateKey, message, source, Some(key.span.clone()))
        .help(format!("the first `{name}` is in line {line}: {what_to_do}"))
}

/// Like [`parse`], but accepts duplicate keys: the mapping then has an entry for each of them.
pub fn parse_with_duplicate_keys(source: &Source, part: Range<usize>) -> Result<YamlNode, Box<Diagnostic>> {
    let start = part.start;
    let text = source.text.get(part.clone()).unwrap_or_default();
    let options = options! {
        strict_booleans: true,
        with_snippet: false,
        // The visitor gets every entry.
        duplicate_keys: options::DuplicateKeyPolicy::LastWins,
        budget: budget! { max_depth: DEPTH_LIMIT, max_nodes: NODE_LIMIT, max_documents: 1, max_aliases: 0 },
    };
    let parsed: Result<Spanned<Option<Raw>>, _> = serde_saphyr::from_str_with_options(text, options);
    match parsed {
        Ok(raw) => Ok(raw.value.map_or_else(
            || YamlNode { value: Yaml::Map(Vec::new()), span: start..start },
            |Raw(node)| node.shifted_by(start),
        )),
        Err(error) => {
            let offset = error.location().map_or(part.end, |location| start + byte_offset_of(text, &location));
            let message = plain_message(&error);
            let help = missing_quotes(text, offset - start, &message);
            Err(Box::new(
                Diagnostic::error(DiagnosticKind::InvalidYaml, message, source, Some(offset..offset)).maybe_help(help),
            ))
        }
    }
}

/// The byte offset of a location. Some errors have only a line and column.
fn byte_offset_of(text: &str, location: &serde_saphyr::Location) -> usize {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    if let Some(byte) = location.span().byte_offset() {
        return number(byte).min(text.len());
    }
    let line = number(location.line()).saturating_sub(1);
    let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text.get(before..).unwrap_or_default();
    let column = number(location.column()).saturating_sub(1);
    before + rest.char_indices().nth(column).map_or(rest.trim_end().len(), |(byte, _)| byte)
}

/// The parser's message without the position, which the diagnostic shows itself, and without its advice, which is for
/// users of the parser's API.
fn plain_message(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    if text.contains("Aliases {") {
        return "YAML aliases (`*name`) are not supported in policy files: write out the value".to_owned();
    }
    let text = text.split(" at line ").next().unwrap_or_default();
    let text = text.lines().next().unwrap_or_default().trim_end_matches([':', '.', ' ']);
    format!("invalid YAML: {text}")
}

/// A suggestion for strings with special characters of YAML that need quotes, or the other kind of quotes.
fn missing_quotes(text: &str, offset: usize, message: &str) -> Option<String> {
    if message.contains("unknown escape") {
        return Some("in double quotes `\\` starts an escape sequence: use single quotes, or write `\\\\`".to_owned());
    }
    let (before, after) = text.split_at_checked(offset)?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    let rest = after.split('\n').next().unwrap_or_default();
    let unquoted = if message.contains("mapping values are not allowed") {
        let (_, value) = line.split_once(": ")?;
        format!("{value}{rest}")
    } else {
        let is_brace = line.contains('{') || rest.starts_with('{');
        let is_unquoted_brace = is_brace && (message.contains("flow") || message.contains("expected key"));
        let is_reserved_character = message.contains("unknown anchor") || message.contains("unexpected character");
        if !is_unquoted_brace && !is_reserved_character {
            return None;
        }
        let start_of_value = line.rsplit(['[', ',', ' ']).next().unwrap_or_default();
        let end_of_value = rest.split([',', ']']).next().unwrap_or_default();
        format!("{start_of_value}{end_of_value}")
    };
    let unquoted = unquoted.trim();
    let is_quotable = !unquoted.is_empty() && !unquoted.contains('\'');
    is_quotable.then(|| format!("put it in single quotes: `'{unquoted}'`"))
}

struct Raw(YamlNode);

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned: Spanned<RawValue> = Spanned::deserialize(deserializer)?;
        Ok(Self(YamlNode { value: spanned.value.0, span: byte_span(spanned.referenced) }))
    }
}

fn byte_span(location: serde_saphyr::Location) -> Range<usize> {
    let span = location.span();
    let start = span.byte_offset().and_then(|start| usize::try_from(start).ok()).unwrap_or(0);
    let length = span.byte_len().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    start..start + length
}

struct RawValue(Yaml);

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlVisitor).map(Self)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = Yaml;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_none<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Yaml, E> {
        Ok(Yaml::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Yaml, E> {
        Ok(Yaml::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Yaml, E> {
        Ok(Yaml::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Yaml, E> {
        // JSON has no infinities and NaN. As strings they are refused where a number is expected.
        Ok(serde_json::Number::from_f64(value).map_or_else(|| Yaml::Text(value.to_string()), Yaml::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Yaml, E> {
        Ok(Yaml::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        let mut list = Vec::new();
        while let Some(Raw(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Yaml::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Yaml, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let Raw(value) = entries.next_value()?;
            map.push((YamlKey { span: byte_span(key.referenced), text: key.value }, value));
        }
        Ok(Yaml::Map(map))
    }
}

impl YamlNode {
    fn shifted_by(mut self, offset: usize) -> Self {
        self.shift(offset);
        self
    }

    // The parser's depth limit bounds the recursion.
    fn shift(&mut self, offset: usize) {
        self.span = self.span.start + offset..self.span.end + offset;
        match &mut self.value {
            Yaml::List(items) => items.iter_mut().for_each(|item| item.shift(offset)),
            Yaml::Map(entries) => {
                for (key, node) in entries {
                    key.span = key.span.start + offset..key.span.end + offset;
                    node.shift(offset);
                }
            }
            Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Text(_) => {}
        }
    }
}

/// Parses a value from the command line: a boolean, a number, null, or a string, which needs no quotes.
pub fn parse_scalar(text: &str) -> Result<Value, String> {
    if text.starts_with(['[', '{']) {
        return Err(format!("`{text}` is a list or a mapping, but a variable can only be set to a single value"));
    }
    if matches!(text, "null" | "~") {
        return Ok(Value::Null);
    }
    let is_quoted = text.starts_with(['"', '\'']);
    // In a file `#` starts a comment; here it is part of the string.
    let parsed = parse(&Source::new("", text), 0..text.len()).ok().filter(|_| is_quoted || !text.contains('#'));
    Ok(match parsed.map(|node| node.value) {
        Some(Yaml::Bool(value)) => Value::Bool(value),
        Some(Yaml::Number(value)) => Value::Number(value),
        Some(Yaml::Text(value)) if is_quoted => Value::String(value),
        _ => Value::String(text.to_owned()),
    })
}
