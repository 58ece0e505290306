//! Converts values from and to JSON.

use minijinja::{Error, Value, value::ValueKind};
use serde_json::{Map, Number, Value as Json};

use super::{
    error::failure,
    work_budget::{self, WorkBudget},
};

/// Converts JSON to a value. Recursion is safe, because the JSON parser has limited the nesting.
pub(super) fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(flag) => Value::from(*flag),
        Json::String(text) => Value::from(text.as_str()),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::from(whole),
            (None, Some(whole)) => Value::from(whole),
            (None, None) => Value::from(number.as_f64()),
        },
        Json::Array(items) => items.iter().map(from_json).collect(),
        Json::Object(fields) => Value::from_pairs(fields.iter().map(|(name, value)| (name.as_str(), from_json(value)))),
    }
}

/// Converts a value to JSON. An undefined value becomes null.
pub(super) fn to_json(value: &Value, work: &mut WorkBudget) -> Result<Json, Error> {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(Json::Null),
        ValueKind::Bool => Ok(Json::Bool(value.is_true())),
        ValueKind::Number => number(value).map(Json::Number).ok_or_else(|| failure("the number is too large")),
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            work.charge(text.len())?;
            Ok(Json::String(text.to_owned()))
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let mut items = Vec::new();
            for item in value.try_iter()? {
                work.charge_items(1)?;
                items.push(to_json(&item, work)?);
            }
            Ok(Json::Array(items))
        }
        ValueKind::Map => {
            let mut fields = Map::new();
            for key in value.try_iter()? {
                work.charge_items(1)?;
                fields.insert(work_budget::text(&key, work)?, to_json(&value.get_item(&key)?, work)?);
            }
            Ok(Json::Object(fields))
        }
        _ => Err(failure("the result cannot be written as JSON")),
    }
}

fn number(value: &Value) -> Option<Number> {
    if value.is_integer() {
        return Number::from_i128(i128::try_from(value.clone()).ok()?);
    }
    Number::from_f64(f64::try_from(value.clone()).ok()?)
}

/// True if the value counts as true, as in Python: empty values, zero and null do not count as true.
pub fn truthy(json: &Json) -> bool {
    match json {
        Json::Null => false,
        Json::Bool(flag) => *flag,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(fields) => !fields.is_empty(),
    }
}
