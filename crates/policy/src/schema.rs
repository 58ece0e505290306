//! Generates the JSON Schemas of the policy files from the key tables.
//!
//! The schemas are for editors. They use draft 7, which `yaml-language-server` and VS Code support best, and each is
//! self-contained. Everything that a schema rejects is rejected by the reader too, but not vice versa: a schema cannot
//! check expressions, for example. There is one exception: a key without a value is rejected by the schemas, because it
//! is usually a mistake, but the reader treats it as missing.

use serde_json::{Map, Value, json};

use crate::format::{FORMATS, FileFormat};
use crate::text::keys::{self, Key, KeyConstraint, Mapping, ValueType};

#[cfg(test)]
mod tests;

const PUBLISHED: &str = "https://raw.githubusercontent.com/linchpin-dev/linchpin/main/schemas";

/// All schemas with their file names, without extension.
pub fn schemas() -> Vec<(&'static str, Value)> {
    FORMATS.iter().map(|format| (format.name, schema(format))).collect()
}

fn schema(format: &FileFormat) -> Value {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("$id".to_owned(), json!(format!("{PUBLISHED}/{}.json", format.name)));
    schema.insert("title".to_owned(), json!(format.title));
    let mut rest = format.mappings();
    match &format.value_type {
        ValueType::Mapping(whole) => {
            rest.retain(|mapping| mapping.name != whole.name);
            schema.append(&mut of_mapping(whole));
        }
        other => schema.append(&mut of(other)),
    }
    if !rest.is_empty() {
        let definitions =
            rest.into_iter().map(|mapping| (definition_name(mapping), Value::Object(of_mapping(mapping))));
        schema.insert("definitions".to_owned(), Value::Object(definitions.collect()));
    }
    Value::Object(schema)
}

/// The name of a mapping's schema definition.
fn definition_name(mapping: &Mapping) -> String {
    mapping.name.replace(' ', "_")
}

fn of_mapping(mapping: &Mapping) -> Map<String, Value> {
    let mut schema = object(json!({ "type": "object", "description": mapping.about }));
    let properties: Map<String, Value> =
        keys::each(mapping.keys).map(|key| (key.name.to_owned(), of_key(key))).collect();
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    let others = mapping.other_keys.map_or(Value::Bool(false), |takes| Value::Object(of(takes)));
    schema.insert("additionalProperties".to_owned(), others);
    for constraint in mapping.constraints {
        let (keyword, value) = of_constraint(constraint);
        schema.insert(keyword.to_owned(), value);
    }
    schema
}

fn of_constraint(constraint: &KeyConstraint) -> (&'static str, Value) {
    let each = |names: &[&str]| -> Value { names.iter().map(|name| json!({ "required": [name] })).collect() };
    match constraint {
        KeyConstraint::AllOf(names) => ("required", json!(names)),
        KeyConstraint::AnyOf(names) => ("anyOf", each(&names())),
        KeyConstraint::OneGroup(groups) => {
            ("oneOf", groups.iter().map(|names| json!({ "anyOf": each(names) })).collect())
        }
        KeyConstraint::RequiresAnyOf(key, [only]) => ("dependencies", json!({ *key: [only] })),
        KeyConstraint::RequiresAnyOf(key, others) => ("dependencies", json!({ *key: { "anyOf": each(others) } })),
        KeyConstraint::OnlyWithValue(names, key, value) => {
            let others: Value = each(&names());
            ("anyOf", json!([{ "properties": { *key: { "const": value } } }, { "not": { "anyOf": others } }]))
        }
    }
}

fn of_key(key: &Key) -> Value {
    let mut schema = object(json!({ "description": key.about }));
    if let ValueType::Mapping(_) = key.value_type {
        // Draft 7 ignores other keywords next to `$ref`.
        schema.insert("allOf".to_owned(), json!([of(&key.value_type)]));
    } else {
        schema.append(&mut of(&key.value_type));
    }
    if let Some(default) = key.default.and_then(|text| default(&key.value_type, text)) {
        schema.insert("default".to_owned(), default);
    }
    Value::Object(schema)
}

/// The default value as JSON. Editors use it only for simple types.
fn default(takes: &ValueType, text: &str) -> Option<Value> {
    match takes {
        ValueType::Flag | ValueType::Count | ValueType::Number => serde_json::from_str(text).ok(),
        ValueType::Text | ValueType::Word(_) | ValueType::Duration | ValueType::Size | ValueType::Amount => {
            Some(json!(text))
        }
        _ => None,
    }
}

fn of(takes: &ValueType) -> Map<String, Value> {
    object(match takes {
        ValueType::Anything => json!({}),
        ValueType::Flag => json!({ "type": "boolean" }),
        ValueType::Count => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        ValueType::Text | ValueType::Expression | ValueType::Regex | ValueType::Pattern => json!({ "type": "string" }),
        ValueType::Texts | ValueType::Regexes | ValueType::Patterns | ValueType::Globs => {
            one_or_more(&json!({ "type": "string" }))
        }
        ValueType::Word(words) => json!({ "enum": words() }),
        ValueType::Choices(words) => one_or_more(&json!({ "enum": words() })),
        ValueType::Version => json!({ "type": "string", "pattern": r"^(>=)?\s*\+?[0-9]+(\.\+?[0-9]+)*\s*$" }),
        ValueType::Number => json!({ "type": "number", "minimum": 0 }),
        ValueType::Amount => json!({ "type": "string", "pattern": r"^\+?[0-9]+[KkMG]?$" }),
        ValueType::Duration => json!({ "type": "string", "pattern": r"^\+?[0-9]+\s*(ms|s|m|h|d)$" }),
        ValueType::Size => json!({ "type": "string", "pattern": r"^\+?[0-9]+\s*KiB$" }),
        ValueType::Named(inner) => json!({ "type": "object", "additionalProperties": of(inner) }),
        ValueType::List(inner) => json!({ "type": "array", "items": of(inner) }),
        ValueType::Either(several) => json!({ "anyOf": several.iter().map(of).collect::<Vec<_>>() }),
        ValueType::Mapping(mapping) => json!({ "$ref": format!("#/definitions/{}", definition_name(mapping)) }),
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
