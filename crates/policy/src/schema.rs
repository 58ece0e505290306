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

const SCHEMAS_URL: &str = "https://raw.githubusercontent.com/linchpin-dev/linchpin/main/schemas";

/// All schemas with their file names, without extension.
pub fn schemas() -> Vec<(&'static str, Value)> {
    FORMATS.iter().map(|format| (format.name, schema(format))).collect()
}

fn schema(format: &FileFormat) -> Value {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("$id".to_owned(), json!(format!("{SCHEMAS_URL}/{}.json", format.name)));
    schema.insert("title".to_owned(), json!(format.title));
    let mut rest = format.mappings();
    match &format.value_type {
        ValueType::Mapping(root_mapping) => {
            rest.retain(|mapping| mapping.name != root_mapping.name);
            schema.append(&mut mapping_schema(root_mapping));
        }
        other => schema.append(&mut type_schema(other)),
    }
    if !rest.is_empty() {
        let definitions =
            rest.into_iter().map(|mapping| (definition_name(mapping), Value::Object(mapping_schema(mapping))));
        schema.insert("definitions".to_owned(), Value::Object(definitions.collect()));
    }
    Value::Object(schema)
}

/// The name of a mapping's schema definition.
fn definition_name(mapping: &Mapping) -> String {
    mapping.name.replace(' ', "_")
}

fn mapping_schema(mapping: &Mapping) -> Map<String, Value> {
    let mut schema = object(json!({ "type": "object", "description": mapping.about }));
    let properties: Map<String, Value> =
        keys::all_keys(mapping.keys).map(|key| (key.name.to_owned(), key_schema(key))).collect();
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    let other_keys = mapping.other_keys.map_or(Value::Bool(false), |value_type| Value::Object(type_schema(value_type)));
    schema.insert("additionalProperties".to_owned(), other_keys);
    for constraint in mapping.constraints {
        let (keyword, value) = constraint_schema(constraint);
        schema.insert(keyword.to_owned(), value);
    }
    schema
}

fn constraint_schema(constraint: &KeyConstraint) -> (&'static str, Value) {
    let required_each = |names: &[&str]| -> Value { names.iter().map(|name| json!({ "required": [name] })).collect() };
    match constraint {
        KeyConstraint::AllOf(names) => ("required", json!(names)),
        KeyConstraint::AnyOf(names) => ("anyOf", required_each(&names())),
        KeyConstraint::OneGroup(groups) => {
            ("oneOf", groups.iter().map(|names| json!({ "anyOf": required_each(names) })).collect())
        }
        KeyConstraint::RequiresAnyOf(key, [only]) => ("dependencies", json!({ *key: [only] })),
        KeyConstraint::RequiresAnyOf(key, other_keys) => {
            ("dependencies", json!({ *key: { "anyOf": required_each(other_keys) } }))
        }
        KeyConstraint::OnlyWithValue(names, key, value) => {
            let other_keys: Value = required_each(&names());
            ("anyOf", json!([{ "properties": { *key: { "const": value } } }, { "not": { "anyOf": other_keys } }]))
        }
    }
}

fn key_schema(key: &Key) -> Value {
    let mut schema = object(json!({ "description": key.about }));
    if let ValueType::Mapping(_) = key.value_type {
        // Draft 7 ignores other keywords next to `$ref`.
        schema.insert("allOf".to_owned(), json!([type_schema(&key.value_type)]));
    } else {
        schema.append(&mut type_schema(&key.value_type));
    }
    if let Some(default) = key.default.and_then(|text| default_value(&key.value_type, text)) {
        schema.insert("default".to_owned(), default);
    }
    Value::Object(schema)
}

/// The default value as JSON. Editors use it only for simple types.
fn default_value(value_type: &ValueType, text: &str) -> Option<Value> {
    match value_type {
        ValueType::Boolean | ValueType::Integer | ValueType::Number => serde_json::from_str(text).ok(),
        ValueType::Text | ValueType::Choice(_) | ValueType::Duration | ValueType::Size | ValueType::Amount => {
            Some(json!(text))
        }
        _ => None,
    }
}

fn type_schema(value_type: &ValueType) -> Map<String, Value> {
    object(match value_type {
        ValueType::Anything => json!({}),
        ValueType::Boolean => json!({ "type": "boolean" }),
        ValueType::Integer => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        ValueType::Text | ValueType::Expression | ValueType::Regex | ValueType::Pattern => json!({ "type": "string" }),
        ValueType::Texts | ValueType::Regexes | ValueType::Patterns | ValueType::Globs => {
            one_or_more(&json!({ "type": "string" }))
        }
        ValueType::Choice(words) => json!({ "enum": words() }),
        ValueType::Choices(words) => one_or_more(&json!({ "enum": words() })),
        ValueType::Version => json!({ "type": "string", "pattern": r"^(>=)?\s*\+?[0-9]+(\.\+?[0-9]+)*\s*$" }),
        ValueType::Number => json!({ "type": "number", "minimum": 0 }),
        ValueType::Amount => json!({ "type": "string", "pattern": r"^\+?[0-9]+[KkMG]?$" }),
        ValueType::Duration => json!({ "type": "string", "pattern": r"^\+?[0-9]+\s*(ms|s|m|h|d)$" }),
        ValueType::Size => json!({ "type": "string", "pattern": r"^\+?[0-9]+\s*KiB$" }),
        ValueType::Named(inner) => json!({ "type": "object", "additionalProperties": type_schema(inner) }),
        ValueType::List(inner) => json!({ "type": "array", "items": type_schema(inner) }),
        ValueType::Either(several) => json!({ "anyOf": several.iter().map(type_schema).collect::<Vec<_>>() }),
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
