//! Possible values of variables that are not known: the values on the control-flow paths that lead to the current
//! command.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::{Array, SharedMap, State, Value, remove};
use crate::interpret::possible_output::MAX_ALTERNATIVES;

/// If the possible values of several variables have more combinations than this, the values are not assumed one by one.
pub(crate) const MAX_COMBINATIONS: usize = 4 * MAX_ALTERNATIVES;

/// The known value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScalarOrArray {
    Scalar(Value),
    Array(Rc<Array>),
}

/// The possible values of one variable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PossibleValues {
    pub(super) values: Vec<ScalarOrArray>,
    /// True if the variable certainly has one of these values.
    pub(super) is_complete: bool,
}

impl PossibleValues {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the value at an index, or the last value if there are fewer values.
    pub(super) fn at(&self, index: usize) -> Option<&ScalarOrArray> {
        self.values.get(index).or(self.values.last())
    }

    pub(super) fn add(&mut self, value: &ScalarOrArray) {
        if self.values.contains(value) {
            return;
        }
        if self.values.len() < MAX_ALTERNATIVES {
            self.values.push(value.clone());
        } else {
            self.is_complete = false;
        }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.is_complete &= other.is_complete;
        other.values.iter().for_each(|value| self.add(value));
    }
}

/// Adds possible values of a variable. The variable may have other values too.
pub(super) fn add_possible(
    possible: &mut SharedMap<PossibleValues>,
    name: &Arc<str>,
    values: impl IntoIterator<Item = ScalarOrArray>,
) {
    let mut values = values.into_iter().peekable();
    if values.peek().is_some() {
        let known = Rc::make_mut(possible).entry(Arc::clone(name)).or_default();
        known.is_complete = false;
        values.for_each(|value| known.add(&value));
    }
}

impl State {
    /// Adds possible values: those values of another state that differ from the values of this state.
    pub(crate) fn add_possible_from(&mut self, other: &Self) {
        self.parameters.positional.add_possible_from(&other.parameters.positional);
        if Rc::ptr_eq(&self.variables.values, &other.variables.values) {
            return;
        }
        for name in other.variables.values.keys() {
            let value = other
                .variables
                .known_value(name)
                .filter(|value| self.variables.known_value(name).as_ref() != Some(value));
            add_possible(&mut self.variables.possible, name, value);
        }
    }

    /// Sets a variable that certainly has one of these values.
    pub(crate) fn assign_one_of(&mut self, name: &str, values: &[Value]) {
        self.assign(name, None);
        let mut possible = PossibleValues { values: Vec::new(), is_complete: true };
        for value in values {
            possible.add(&ScalarOrArray::Scalar(value.clone()));
        }
        Rc::make_mut(&mut self.variables.possible).insert(name.into(), possible);
    }

    /// Finds the first variable in a part of the script that certainly has one of several known values, and returns one
    /// state for each of these values. Returns no states if there is no such variable, or if all such variables
    /// together have more than `limit` combinations of values.
    pub(crate) fn split_by_variable_in(&self, text: &str, limit: usize) -> Vec<Self> {
        let splittable = |name: &str| {
            self.variables
                .possible
                .get_key_value(name)
                .filter(|(_, possible)| possible.is_complete && possible.len() > 1)
        };
        let names: BTreeSet<&str> = variables_used_in(text).collect();
        let splittable: Vec<(&Arc<str>, &PossibleValues)> = names.into_iter().filter_map(splittable).collect();
        let combinations = splittable.iter().fold(1_usize, |count, (_, possible)| count.saturating_mul(possible.len()));
        let Some((name, possible)) = splittable.first().filter(|_| combinations <= limit) else { return Vec::new() };
        possible.values.iter().map(|value| self.with_value(name, value)).collect()
    }

    fn with_value(&self, name: &Arc<str>, value: &ScalarOrArray) -> Self {
        let mut state = self.clone();
        state.variables.environment = None;
        remove(&mut state.variables.possible, name);
        let scalar = match value {
            ScalarOrArray::Scalar(value) => Some(value.clone()),
            ScalarOrArray::Array(array) => {
                Rc::make_mut(&mut state.variables.arrays).insert(Arc::clone(name), Rc::clone(array));
                None
            }
        };
        Rc::make_mut(&mut state.variables.values).insert(Arc::clone(name), scalar);
        state
    }

    /// Returns the largest number of possible values that any variable, or the list of positional parameters, has in a
    /// part of the script.
    pub(crate) fn possible_count_in(&self, text: &str) -> usize {
        let is_argument = |c: char| c.is_ascii_digit() || matches!(c, '@' | '*' | '#');
        let after_dollar = text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
        let arguments = after_dollar
            .filter(|rest| rest.starts_with(is_argument))
            .map(|_| self.parameters.positional.possible_count());
        let named =
            variables_used_in(text).filter_map(|name| self.variables.possible.get(name)).map(PossibleValues::len);
        arguments.chain(named).max().unwrap_or(0)
    }
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the names of the variables whose values a part of the script uses.
fn variables_used_in(text: &str) -> impl Iterator<Item = &str> {
    let after_dollar = text.split('$').skip(1).map(|rest| rest.trim_start_matches(['{', '#', '!']));
    let expanded =
        after_dollar.filter_map(|rest| rest.get(..rest.find(|c| !is_name_character(c)).unwrap_or(rest.len())));
    // `NAME+=` uses the present value of the variable.
    let appended = text.match_indices("+=");
    let appended = appended.filter_map(|(index, _)| text.get(..index)?.rsplit(|c| !is_name_character(c)).next());
    expanded.chain(appended)
}
