//! `behavior_<name>_<condition>(…)`: reads the last stored answer of an external behavior, without starting the
//! behavior.

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

/// The function that lowered expressions call for every `behavior_…` function. Its first argument is the name of the
/// `behavior_…` function.
pub(super) const BEHAVIOR_CONDITION: &str = "@condition";

/// Applies the arguments to the behavior's answer, one after another. If the answer is a dictionary, the argument is
/// the key of the value to select. If the answer is a list, the result is whether the list contains the argument. For
/// any other answer, the result is undefined. Without arguments, returns the whole answer. Returns undefined if the
/// behavior has not answered.
pub(super) fn run(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [name, args @ ..] = args else { return Err(wrong_arity()) };
    let conditions = context::variable(state, CONDITIONS, name.as_str().unwrap_or_default())?;
    let mut answer = conditions.and_then(|conditions| conditions.get_item(name).ok()).unwrap_or_default();
    let work = work_budget::of(state);
    for arg in args {
        answer = if is_list(&answer) {
            let mut is_contained = false;
            for item in items(&answer, work)? {
                is_contained = is_contained || compare::equal(&item, arg, work)?;
            }
            Value::from(is_contained)
        } else if answer.kind() == ValueKind::Map {
            answer.get_item(arg).unwrap_or_default()
        } else {
            Value::UNDEFINED
        };
    }
    Ok(answer)
}
