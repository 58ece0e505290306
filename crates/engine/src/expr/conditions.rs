//! `behavior_<name>_<condition>(…)`: reads the last stored answer of an external behavior, without starting a process.

use minijinja::{Error, State, Value, value::ValueKind};

use super::{
    compare::{self, is_list},
    context,
    error::wrong_arity,
    values::items,
    work_budget,
};
pub(super) use crate::behavior_names::CONDITION_PREFIX as PREFIX;
use crate::behavior_names::CONDITIONS;

/// The function's name in lowered expressions. The first argument is the function's name in the source text.
pub(super) const CONDITION: &str = "@condition";

/// Each argument descends one level into the answer: it selects a key of a dictionary, or tests whether a list contains
/// it. Returns undefined if the behavior has not answered.
pub(super) fn run(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [name, args @ ..] = args else { return Err(wrong_arity()) };
    let conditions = context::variable(state, CONDITIONS, name.as_str().unwrap_or_default())?;
    let mut answer = conditions.and_then(|conditions| conditions.get_item(name).ok()).unwrap_or_default();
    let work = work_budget::of(state);
    for arg in args {
        answer = if is_list(&answer) {
            let mut found = false;
            for item in items(&answer, work)? {
                found = found || compare::equal(&item, arg, work)?;
            }
            Value::from(found)
        } else if answer.kind() == ValueKind::Map {
            answer.get_item(arg).unwrap_or_default()
        } else {
            Value::UNDEFINED
        };
    }
    Ok(answer)
}
