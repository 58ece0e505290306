//! Possible values of variables that are not known: the values on the control-flow paths that led here.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::{Array, SharedMap, State, Value, remove};
use crate::interpret::possible_output::MAX_ALTERNATIVES;

/// More combinations of possible values are not distinguished.
pub(crate) const MAX_COMBINATIONS: usize = 4 * MAX_ALTERNATIVES;

/// The contents of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contents {
    Scalar(Value),
    Array(Rc<Array>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PossibleValues {
    pub(super) contents: Vec<Contents>,
    /// True if the variable certainly has one of these contents.
    pub(super) is_complete: bool,
}

impl PossibleValues {
    pub(super) fn len(&self) -> usize {
        self.contents.len()
    }

    /// Returns the contents at an index, or the last ones if there are fewer.
    pub(super) fn at(&self, index: usize) -> Option<&Contents> {
        self.contents.get(index).or(self.contents.last())
    }

    pub(super) fn add(&mut self, contents: &Contents) {
        if self.contents.contains(contents) {
            return;
        }
        if self.contents.len() < MAX_ALTERNATIVES {
            self.contents.push(contents.clone());
        } else {
            self.is_complete = false;
        }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.is_complete &= other.is_complete;
        other.contents.iter().for_each(|contents| self.add(contents));
    }
}

/// Adds possible contents of a variable. It may have others too.
pub(super) fn add_possible(
    possible: &mut SharedMap<PossibleValues>,
    name: &Arc<str>,
    contents: impl IntoIterator<Item = Contents>,
) {
    let mut contents = contents.into_iter().peekable();
    if contents.peek().is_some() {
        let known = Rc::make_mut(possible).entry(Arc::clone(name)).or_default();
        known.is_complete = false;
        contents.for_each(|contents| known.add(&contents));
    }
}

impl State {
    /// Adds the values of another state, where they differ, as possible values.
    pub(crate) fn add_possible_from(&mut self, other: &Self) {
        self.parameters.positional.add_possible_from(&other.parameters.positional);
        if Rc::ptr_eq(&self.variables.values, &other.variables.values) {
            return;
        }
        for name in other.variables.values.keys() {
            let contents = other
                .variables
                .known_contents(name)
                .filter(|contents| self.variables.known_contents(name).as_ref() != Some(contents));
            add_possible(&mut self.variables.possible, name, contents);
        }
    }

    /// Sets a variable to one of several values: it certainly has one of them.
    pub(crate) fn assign_one_of(&mut self, name: &str, values: &[Value]) {
        self.assign(name, None);
        let mut possible = PossibleValues { contents: Vec::new(), is_complete: true };
        for value in values {
            possible.add(&Contents::Scalar(value.clone()));
        }
        Rc::make_mut(&mut self.variables.possible).insert(name.into(), possible);
    }

    /// Finds the first variable in the script of which all possible values are known, and returns one state for each of
    /// them. Returns nothing if there is no such variable, or too many combinations.
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
        possible.contents.iter().map(|contents| self.with_contents(name, contents)).collect()
    }

    fn with_contents(&self, name: &Arc<str>, contents: &Contents) -> Self {
        let mut state = self.clone();
        state.variables.environment = None;
        remove(&mut state.variables.possible, name);
        let value = match contents {
            Contents::Scalar(value) => Some(value.clone()),
            Contents::Array(array) => {
                Rc::make_mut(&mut state.variables.arrays).insert(Arc::clone(name), Rc::clone(array));
                None
            }
        };
        Rc::make_mut(&mut state.variables.values).insert(Arc::clone(name), value);
        state
    }

    /// The largest number of possible values of a variable that the script uses.
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

/// The names of variables whose values the script uses.
fn variables_used_in(text: &str) -> impl Iterator<Item = &str> {
    let after_dollar = text.split('$').skip(1).map(|rest| rest.trim_start_matches(['{', '#', '!']));
    let expanded =
        after_dollar.filter_map(|rest| rest.get(..rest.find(|c| !is_name_character(c)).unwrap_or(rest.len())));
    // `NAME+=` uses the present value.
    let appended = text.match_indices("+=");
    let appended = appended.filter_map(|(index, _)| text.get(..index)?.rsplit(|c| !is_name_character(c)).next());
    expanded.chain(appended)
}
