//! Reads values for functions, filters and methods, and charges the work budget for each read.

use minijinja::{Error, Value, value::ValueKind};

use super::{
    compare::{is_list, is_missing, kind_name},
    error::failure,
    work_budget::{self, WorkBudget},
};

/// Returns the items over which Python iterates: the items of a list, the keys of a dictionary or the characters of a
/// string. The result is empty if the value is undefined or null.
pub(super) fn items(value: &Value, work: &mut WorkBudget) -> Result<Vec<Value>, Error> {
    if is_missing(value) {
        return Ok(Vec::new());
    }
    if let Some(text) = value.as_str() {
        work.charge_items(text.len())?;
        return Ok(text.chars().map(Value::from).collect());
    }
    if is_list(value) || value.kind() == ValueKind::Map {
        work.charge_items(value.len().unwrap_or_default())?;
        return Ok(value.try_iter()?.collect());
    }
    Err(failure(format!("{} has no items", kind_name(value))))
}

pub(super) fn length(value: &Value, work: &mut WorkBudget) -> Result<Value, Error> {
    if is_missing(value) {
        return Ok(Value::from(0));
    }
    work.charge(value.as_str().map_or(0, str::len))?;
    value.len().map(Value::from).ok_or_else(|| failure(format!("{} has no length", kind_name(value))))
}

pub(super) fn join_with(separator: &str, value: &Value, work: &mut WorkBudget) -> Result<Value, Error> {
    let mut joined = String::new();
    for (position, item) in items(value, work)?.iter().enumerate() {
        if position > 0 {
            work.charge(separator.len())?;
            joined.push_str(separator);
        }
        joined.push_str(&work_budget::text(item, work)?);
    }
    Ok(Value::from(joined))
}

/// Returns the content of an argument that must be a string; `None` if the argument is undefined or null. An argument
/// of another kind is an error.
pub(super) fn text_argument<'v>(value: &'v Value, function: &str) -> Result<Option<&'v str>, Error> {
    match value.as_str() {
        Some(text) => Ok(Some(text)),
        None if is_missing(value) => Ok(None),
        None => Err(failure(format!("`{function}` takes text, not {}", kind_name(value)))),
    }
}
