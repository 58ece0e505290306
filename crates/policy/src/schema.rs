//! JSON Schemas of the policy files, from the tables that their readers use.
//!
//! They are for editors, so they are draft 7, which is what `yaml-language-server` and VS Code know best, and each stands
//! alone, so that nothing more has to be fetched. Whatever a schema refuses, the reader refuses; not the other way
//! round, since no schema knows what an expression may name. The one exception: a key with nothing behind it is read as
//! left out, and no schema takes it, for it is seldom what somebody means.

use serde_json::{Map, Value, json};

use crate::format::{FORMATS, Format};
use crate::text::keys::{self, Key, Mapping, Need, Takes};

#[cfg(test)]
mod tests;

const PUBLISHED: &str = "https://raw.githubusercontent.com/linchpin-dev/linchpin/main/schemas";

/// Each with the name of its file, without the extension.
pub fn schemas() -> Vec<(&'static str, Value)> {
    FORMATS.iter().map(|format| (format.name, schema(format))).collect()
}

fn schema(format: &Format) -> Value {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("$id".to_owned(), json!(format!("{PUBLISHED}/{}.json", format.name)));
    schema.insert("title".to_owned(), json!(format.title));
    let mut rest = format.mappings();
    match &format.holds {
        Takes::Mapping(whole) => {
            rest.retain(|mapping| mapping.name != whole.name);
            schema.append(&mut of_mapping(whole));
        }
        other => schema.append(&mut of(other)),
    }
    if !rest.is_empty() {
        let definitions = rest.into_iter().map(|mapping| (definition(mapping), Value::Object(of_mapping(mapping))));
        schema.insert("definitions".to_owned(), Value::Object(definitions.collect()));
    }
    Value::Object(schema)
}

/// A mapping's name, as a reference can have it.
fn definition(mapping: &Mapping) -> String {
    mapping.name.replace(' ', "_")
}

fn of_mapping(mapping: &Mapping) -> Map<String, Value> {
    let mut schema = object(json!({ "type": "object", "description": mapping.about }));
    let properties: Map<String, Value> =
        keys::each(mapping.keys).map(|key| (key.name.to_owned(), of_key(key))).collect();
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    let others = mapping.others.map_or(Value::Bool(false), |takes| Value::Object(of(takes)));
    schema.insert("additionalProperties".to_owned(), others);
    for need in mapping.needs {
        let (keyword, demand) = of_need(need);
        schema.insert(keyword.to_owned(), demand);
    }
    schema
}

fn of_need(need: &Need) -> (&'static str, Value) {
    let each = |names: &[&str]| -> Value { names.iter().map(|name| json!({ "required": [name] })).collect() };
    match need {
        Need::All(names) => ("required", json!(names)),
        Need::Any(names) => ("anyOf", each(&names())),
        Need::ExactlyOne(groups) => ("oneOf", groups.iter().map(|names| json!({ "anyOf": each(names) })).collect()),
        Need::Beside(key, [only]) => ("dependencies", json!({ *key: [only] })),
        Need::Beside(key, others) => ("dependencies", json!({ *key: { "anyOf": each(others) } })),
        Need::OnlyWith(names, key, value) => {
            let others: Value = each(&names());
            ("anyOf", json!([{ "properties": { *key: { "const": value } } }, { "not": { "anyOf": others } }]))
        }
    }
}

fn of_key(key: &Key) -> Value {
    let mut schema = object(json!({ "description": key.about }));
    if let Takes::Mapping(_) = key.takes {
        // Draft 7 ignores what stands beside a reference.
        schema.insert("allOf".to_owned(), json!([of(&key.takes)]));
    } else {
        schema.append(&mut of(&key.takes));
    }
    if let Some(default) = key.default.and_then(|text| default(&key.takes, text)) {
        schema.insert("default".to_owned(), default);
    }
    Value::Object(schema)
}

/// As JSON; of what is not simple an editor has no use for it.
fn default(takes: &Takes, text: &str) -> Option<Value> {
    match takes {
        Takes::Flag | Takes::Count | Takes::Number => serde_json::from_str(text).ok(),
        Takes::Text | Takes::Word(_) | Takes::Duration | Takes::Size | Takes::Amount => Some(json!(text)),
        _ => None,
    }
}

fn of(takes: &Takes) -> Map<String, Value> {
    object(match takes {
        Takes::Anything => json!({}),
        Takes::Flag => json!({ "type": "boolean" }),
        Takes::Count => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        Takes::Text | Takes::Expression | Takes::Regex | Takes::Pattern => json!({ "type": "string" }),
        Takes::Texts | Takes::Regexes | Takes::Patterns | Takes::Globs => one_or_more(&json!({ "type": "string" })),
        Takes::Word(words) => json!({ "enum": words() }),
        Takes::Words(words) => one_or_more(&json!({ "enum": words() })),
        Takes::Version => json!({ "type": "string", "pattern": r"^(>=)?\s*\+?[0-9]+(\.\+?[0-9]+)*\s*$" }),
        Takes::Number => json!({ "type": "number", "minimum": 0 }),
        Takes::Amount => json!({ "type": "string", "pattern": r"^\+?[0-9]+[KkMG]?$" }),
        Takes::Duration => json!({ "type": "string", "pattern": r"^\+?[0-9]+\s*(ms|s|m|h|d)$" }),
        Takes::Size => json!({ "type": "string", "pattern": r"^\+?[0-9]+\s*KiB$" }),
        Takes::Named(inner) => json!({ "type": "object", "additionalProperties": of(inner) }),
        Takes::List(inner) => json!({ "type": "array", "items": of(inner) }),
        Takes::Either(several) => json!({ "anyOf": several.iter().map(of).collect::<Vec<_>>() }),
        Takes::Mapping(mapping) => json!({ "$ref": format!("#/definitions/{}", definition(mapping)) }),
    })
}

fn one_or_more(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "array", "items": schema }] })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
