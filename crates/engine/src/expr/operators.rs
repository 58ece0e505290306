//! The operators of the expression language, as functions whose names source text cannot contain.
//!
//! The module `lower` replaces minijinja's operators with these functions, because minijinja's operators compare values
//! of different kinds, build strings of any size, and evaluate constants at compile time.

use minijinja::{Error, State, Value, value::ValueKind};

use super::{
    builtin::BuiltinFn,
    compare::{self, Number, is_list, is_missing, kind_name},
    error::{failure, wrong_arity},
    work_budget::{self, WorkBudget},
};

pub(super) const CHAIN: &str = "<chain>";
pub(super) const ITEM: &str = "[]";
pub(super) const DICT: &str = "{}";
pub(super) const NEGATE: &str = "-x";
pub(super) const IS_NONE: &str = "is None";
pub(super) const IS_TRUE: &str = "is True";
pub(super) const IS_FALSE: &str = "is False";

pub(super) const OPERATORS: &[(&str, BuiltinFn)] = &[
    ("==", |state, args| comparison(state, args, "==")),
    ("!=", |state, args| comparison(state, args, "!=")),
    ("<", |state, args| comparison(state, args, "<")),
    ("<=", |state, args| comparison(state, args, "<=")),
    (">", |state, args| comparison(state, args, ">")),
    (">=", |state, args| comparison(state, args, ">=")),
    ("in", |state, args| comparison(state, args, "in")),
    ("not in", |state, args| comparison(state, args, "not in")),
    (CHAIN, chain),
    ("+", |state, args| arithmetic(state, args, "+")),
    ("-", |state, args| arithmetic(state, args, "-")),
    ("*", |state, args| arithmetic(state, args, "*")),
    ("//", |state, args| arithmetic(state, args, "//")),
    ("%", |state, args| arithmetic(state, args, "%")),
    (NEGATE, negate),
    (ITEM, item),
    (DICT, dict),
    (IS_NONE, |_, args| first_argument(args).map(|value| Value::from(is_missing(value)))),
    (IS_TRUE, |_, args| first_argument(args).map(|value| Value::from(is_boolean(value, true)))),
    (IS_FALSE, |_, args| first_argument(args).map(|value| Value::from(is_boolean(value, false)))),
];

fn first_argument(args: &[Value]) -> Result<&Value, Error> {
    args.first().ok_or_else(wrong_arity)
}

fn is_boolean(value: &Value, flag: bool) -> bool {
    value.kind() == ValueKind::Bool && value.is_true() == flag
}

fn comparison(state: &mut State, args: &[Value], operator: &str) -> Result<Value, Error> {
    let [a, b] = args else { return Err(wrong_arity()) };
    compare(a, operator, b, work_budget::of(state)).map(Value::from)
}

/// Evaluates a chained comparison. The arguments for `a < b <= c` are `a, '<', b, '<=', c`.
fn chain(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let work = work_budget::of(state);
    let mut rest = args;
    while let [a, operator, b, ..] = rest {
        if !compare(a, operator.as_str().unwrap_or_default(), b, work)? {
            return Ok(Value::from(false));
        }
        rest = rest.get(2..).unwrap_or_default();
    }
    Ok(Value::from(true))
}

fn compare(a: &Value, operator: &str, b: &Value, work: &mut WorkBudget) -> Result<bool, Error> {
    Ok(match operator {
        "==" => compare::equal(a, b, work)?,
        "!=" => !compare::equal(a, b, work)?,
        "<" => compare::order(a, b, work)?.is_some_and(std::cmp::Ordering::is_lt),
        "<=" => compare::order(a, b, work)?.is_some_and(std::cmp::Ordering::is_le),
        ">" => compare::order(a, b, work)?.is_some_and(std::cmp::Ordering::is_gt),
        ">=" => compare::order(a, b, work)?.is_some_and(std::cmp::Ordering::is_ge),
        "in" => contains(b, a, work)?,
        "not in" => !contains(b, a, work)?,
        _ => return Err(failure(format!("unknown comparison `{operator}`"))),
    })
}

pub(super) fn contains(container: &Value, item: &Value, work: &mut WorkBudget) -> Result<bool, Error> {
    if is_missing(container) {
        return Ok(false);
    }
    if let Some(text) = container.as_str() {
        work.charge(text.len())?;
        return Ok(item.as_str().is_some_and(|part| text.contains(part)));
    }
    if container.kind() == ValueKind::Map {
        return Ok(compare::contains_key(container, item));
    }
    if is_list(container) {
        for candidate in container.try_iter()? {
            work.charge_items(1)?;
            if compare::equal(&candidate, item, work)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Err(failure(format!("`in` needs text, a list or a dictionary on its right side, not {}", kind_name(container))))
}

fn arithmetic(state: &mut State, args: &[Value], operator: &str) -> Result<Value, Error> {
    let [a, b] = args else { return Err(wrong_arity()) };
    if let (Some(a), Some(b)) = (Number::of(a), Number::of(b)) {
        return calculate(a, operator, b);
    }
    let work = work_budget::of(state);
    let result = match operator {
        "+" => concatenate(a, b, work)?,
        "*" if b.is_integer() => repeat(a, b, work)?,
        "*" if a.is_integer() => repeat(b, a, work)?,
        _ => None,
    };
    result.ok_or_else(|| failure(format!("`{operator}` does not accept {} and {}", kind_name(a), kind_name(b))))
}

fn concatenate(a: &Value, b: &Value, work: &mut WorkBudget) -> Result<Option<Value>, Error> {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        work.charge(a.len() + b.len())?;
        return Ok(Some(Value::from([a, b].concat())));
    }
    if is_list(a) && is_list(b) {
        work.charge_items(a.len().unwrap_or_default() + b.len().unwrap_or_default())?;
        return Ok(Some(Value::from(a.try_iter()?.chain(b.try_iter()?).collect::<Vec<_>>())));
    }
    Ok(None)
}

fn repeat(value: &Value, times: &Value, work: &mut WorkBudget) -> Result<Option<Value>, Error> {
    // As in Python, a negative number of repetitions counts as zero.
    let times = i128::try_from(times.clone()).map_or(i128::MAX, |times| times.max(0));
    let times = usize::try_from(times).unwrap_or(usize::MAX);
    if let Some(text) = value.as_str() {
        work.charge(text.len().saturating_mul(times))?;
        return Ok(Some(Value::from(if text.is_empty() { String::new() } else { text.repeat(times) })));
    }
    if is_list(value) {
        let items: Vec<Value> = value.try_iter()?.collect();
        let length = items.len().saturating_mul(times);
        work.charge_items(length)?;
        return Ok(Some(items.into_iter().cycle().take(length).collect()));
    }
    Ok(None)
}

fn calculate(a: Number, operator: &str, b: Number) -> Result<Value, Error> {
    let too_large = || failure(format!("the result of `{operator}` is too large"));
    let divides = matches!(operator, "//" | "%");
    if let (Number::Whole(a), Number::Whole(b)) = (a, b) {
        if divides && b == 0 {
            return Err(failure(format!("division by zero with `{operator}`")));
        }
        let result = match operator {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "//" => floor_division(a, b).map(|(quotient, _)| quotient),
            _ => floor_division(a, b).map(|(_, remainder)| remainder),
        };
        return result.map(whole).ok_or_else(too_large);
    }
    let (a, b) = (a.as_float(), b.as_float());
    if divides && b == 0.0 {
        return Err(failure(format!("division by zero with `{operator}`")));
    }
    let result = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "//" => (a / b).floor(),
        _ => b.mul_add(-(a / b).floor(), a),
    };
    if result.is_finite() { Ok(Value::from(result)) } else { Err(too_large()) }
}

/// Returns the quotient, rounded down as in Python, and the remainder; `None` for a division by zero or an overflow.
/// The division operator of Rust rounds towards zero.
fn floor_division(a: i128, b: i128) -> Option<(i128, i128)> {
    let (quotient, remainder) = (a.checked_div(b)?, a.checked_rem(b)?);
    if remainder != 0 && (remainder < 0) != (b < 0) {
        Some((quotient.checked_sub(1)?, remainder.checked_add(b)?))
    } else {
        Some((quotient, remainder))
    }
}

pub(super) fn whole(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
}

fn negate(_: &mut State, args: &[Value]) -> Result<Value, Error> {
    let value = first_argument(args)?;
    match Number::of(value) {
        Some(Number::Float(float)) => Ok(Value::from(-float)),
        Some(number) => calculate(Number::Whole(0), "-", number),
        None => Err(failure(format!("`-` does not accept {}", kind_name(value)))),
    }
}

fn item(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [value, key] = args else { return Err(wrong_arity()) };
    if is_missing(value) {
        return Ok(Value::UNDEFINED);
    }
    if let Some(text) = value.as_str() {
        work_budget::of(state).charge(text.len())?;
    }
    value.get_item(key)
}

fn dict(_: &mut State, args: &[Value]) -> Result<Value, Error> {
    let mut pairs = Vec::with_capacity(args.len() / 2);
    for pair in args.chunks_exact(2) {
        let [key, value] = pair else { return Err(wrong_arity()) };
        pairs.push((dictionary_key(key)?, value.clone()));
    }
    Ok(Value::from_pairs(pairs))
}

/// Returns the key of a dictionary entry if the key is a string, a number or a boolean. Any other key is an error, so
/// that lookups are cheap.
pub(super) fn dictionary_key(key: &Value) -> Result<Value, Error> {
    match key.kind() {
        ValueKind::String | ValueKind::Number | ValueKind::Bool => Ok(key.clone()),
        _ => Err(failure(format!("{} cannot be the key of a dictionary", kind_name(key)))),
    }
}
