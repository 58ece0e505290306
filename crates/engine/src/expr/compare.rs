//! Equality and order of values.
//!
//! As in Python, booleans are the numbers 0 and 1, lists compare item by item, and dictionaries have no order. Unlike
//! in Python, comparing values of different kinds is not an error: both `a < b` and `a >= b` are false. The undefined
//! value equals null.

use std::cmp::Ordering;

use minijinja::{Error, Value, value::ValueKind};

use super::work_budget::WorkBudget;

pub(super) fn is_missing(value: &Value) -> bool {
    value.is_undefined() || value.is_none()
}

pub(super) fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

/// The name of the value's kind in messages.
pub(super) fn kind_name(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Undefined => "an undefined value",
        ValueKind::None => "null",
        ValueKind::Bool => "a boolean",
        ValueKind::Number => "a number",
        ValueKind::String => "text",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        ValueKind::Map => "a dictionary",
        _ => "this value",
    }
}

#[derive(Clone, Copy)]
pub(super) enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    pub(super) fn of(value: &Value) -> Option<Self> {
        if value.is_integer() || value.kind() == ValueKind::Bool {
            if let Ok(whole) = i128::try_from(value.clone()) {
                return Some(Self::Whole(whole));
            }
        } else if !value.is_number() {
            return None;
        }
        f64::try_from(value.clone()).ok().map(Self::Float)
    }

    #[expect(clippy::cast_precision_loss, reason = "as in Python, a float beside a whole number makes both floats")]
    pub(super) fn as_float(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Float(float) => float,
        }
    }

    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Some(a.cmp(&b)),
            (a, b) => a.as_float().partial_cmp(&b.as_float()),
        }
    }
}

/// True if two values are equal. Recursion is safe, because the nesting of expressions and of JSON is limited.
pub(super) fn equal(a: &Value, b: &Value, work: &mut WorkBudget) -> Result<bool, Error> {
    if is_missing(a) || is_missing(b) {
        return Ok(is_missing(a) && is_missing(b));
    }
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        work.charge(a.len().min(b.len()))?;
        return Ok(a == b);
    }
    if is_list(a) && is_list(b) {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (a, b) in a.try_iter()?.zip(b.try_iter()?) {
            work.charge_items(1)?;
            if !equal(&a, &b, work)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if a.kind() == ValueKind::Map && b.kind() == ValueKind::Map {
        if a.len() != b.len() {
            return Ok(false);
        }
        for key in a.try_iter()? {
            work.charge_items(1)?;
            if !contains_key(b, &key) || !equal(&a.get_item(&key)?, &b.get_item(&key)?, work)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    // Two numbers or booleans are compared. Other values that reach this line are never equal, because their kinds
    // differ.
    Ok(Number::of(a).is_some() && Number::of(b).is_some() && a == b)
}

/// Returns the order of two values; `None` if the values cannot be ordered.
pub(super) fn order(a: &Value, b: &Value, work: &mut WorkBudget) -> Result<Option<Ordering>, Error> {
    if let (Some(a), Some(b)) = (Number::of(a), Number::of(b)) {
        return Ok(a.order(b));
    }
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        work.charge(a.len().min(b.len()))?;
        return Ok(Some(a.cmp(b)));
    }
    if is_list(a) && is_list(b) {
        let lengths = a.len().cmp(&b.len());
        for (a, b) in a.try_iter()?.zip(b.try_iter()?) {
            work.charge_items(1)?;
            if !equal(&a, &b, work)? {
                return order(&a, &b, work);
            }
        }
        return Ok(Some(lengths));
    }
    Ok(None)
}

pub(super) fn contains_key(map: &Value, key: &Value) -> bool {
    map.as_object().is_some_and(|map| map.get_value(key).is_some())
}
