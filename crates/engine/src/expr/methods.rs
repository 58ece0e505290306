//! The methods of the expression language: a selection of the methods of Python's strings, lists and dictionaries.
//!
//! minijinja implements the methods, except `join` and the `count` of a list. This module charges the work budget for a
//! method before the method runs.

use minijinja::{Error, ErrorKind, State, Value, value::ValueKind};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::{
    builtin::Arity,
    compare::{self, is_list, is_missing, kind_name},
    error::{failure, wrong_arity},
    values::{items, join_with},
    work_budget,
};

/// The name of the function that replaces all method calls in lowered expressions. The arguments of this function are
/// the method's name, the value that the method is called on, and the method's arguments.
pub(super) const METHOD: &str = ".";

pub(super) const METHODS: &[(&str, Arity)] = &[
    ("capitalize", Arity::exactly(0)),
    ("count", Arity::exactly(1)),
    ("endswith", Arity::exactly(1)),
    ("find", Arity::exactly(1)),
    ("get", Arity::between(1, 2)),
    ("isalnum", Arity::exactly(0)),
    ("isalpha", Arity::exactly(0)),
    ("isascii", Arity::exactly(0)),
    ("isdigit", Arity::exactly(0)),
    ("islower", Arity::exactly(0)),
    ("isnumeric", Arity::exactly(0)),
    ("isspace", Arity::exactly(0)),
    ("isupper", Arity::exactly(0)),
    ("items", Arity::exactly(0)),
    ("join", Arity::exactly(1)),
    ("keys", Arity::exactly(0)),
    ("lower", Arity::exactly(0)),
    ("lstrip", Arity::between(0, 1)),
    ("replace", Arity::between(2, 3)),
    ("rfind", Arity::exactly(1)),
    ("rstrip", Arity::between(0, 1)),
    ("split", Arity::between(0, 2)),
    ("splitlines", Arity::between(0, 1)),
    ("startswith", Arity::exactly(1)),
    ("strip", Arity::between(0, 1)),
    ("title", Arity::exactly(0)),
    ("upper", Arity::exactly(0)),
    ("values", Arity::exactly(0)),
];

pub(super) fn arity(name: &str) -> Option<Arity> {
    METHODS.iter().find(|(method, _)| *method == name).map(|(_, arity)| *arity)
}

pub(super) fn run(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [method, args @ ..] = args else { return Err(wrong_arity()) };
    call(state, method.as_str().unwrap_or_default(), args)
}

/// Calls a method. `args` begins with the value that the method is called on.
///
/// minijinja's own method call is not used, because for a dictionary it first looks for a key with the method's name:
/// an agent that puts the key `get` into a tool's input would break every rule that calls the method `get` on the
/// input.
pub(super) fn call(state: &mut State, method: &str, args: &[Value]) -> Result<Value, Error> {
    let [value, args @ ..] = args else { return Err(wrong_arity()) };
    if is_missing(value) {
        return Ok(Value::UNDEFINED);
    }
    match method {
        "join" => {
            let [list] = args else { return Err(wrong_arity()) };
            let Some(separator) = value.as_str() else { return Err(no_method(value, method)) };
            return join_with(separator, list, work_budget::of(state));
        }
        "count" if is_list(value) => return count(state, value, args),
        _ => {}
    }
    charge(state, value, method, args)?;
    match unknown_method_callback(state, value, method, args) {
        Ok(result) if result.kind() == ValueKind::Iterable => items(&result, work_budget::of(state)).map(Value::from),
        Ok(result) => Ok(result),
        Err(error) if error.kind() == ErrorKind::UnknownMethod => Err(no_method(value, method)),
        Err(error) => {
            let kind = error.kind().to_string();
            Err(failure(format!("`{method}`: {}", error.detail().unwrap_or(&kind))))
        }
    }
}

fn no_method(value: &Value, method: &str) -> Error {
    failure(format!("{} has no method `{method}`", kind_name(value)))
}

fn count(state: &mut State, list: &Value, args: &[Value]) -> Result<Value, Error> {
    let [wanted] = args else { return Err(wrong_arity()) };
    let work = work_budget::of(state);
    let mut count = 0;
    for item in items(list, work)? {
        count += i64::from(compare::equal(&item, wanted, work)?);
    }
    Ok(Value::from(count))
}

fn charge(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<(), Error> {
    let work = work_budget::of(state);
    let Some(text) = value.as_str() else {
        // `keys`, `values` and `items` are charged when their result is collected.
        return Ok(());
    };
    work.charge(text.len())?;
    let argument = args.first().and_then(Value::as_str);
    match (method, argument) {
        ("split", Some(separator)) => work.charge_items(text.matches(separator).count()),
        ("split", None) => work.charge_items(text.split_whitespace().count()),
        ("splitlines", _) => work.charge_items(text.lines().count()),
        ("strip" | "lstrip" | "rstrip", Some(characters)) => work.charge(text.len().saturating_mul(characters.len())),
        ("replace", Some(old)) => {
            let new = args.get(1).and_then(Value::as_str).unwrap_or_default();
            work.charge(text.matches(old).count().saturating_mul(new.len()))
        }
        ("startswith" | "endswith", None) => work.charge_items(args.first().and_then(Value::len).unwrap_or_default()),
        _ => Ok(()),
    }
}
