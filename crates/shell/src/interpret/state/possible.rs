//! What a variable may be that nobody knows: the values on the ways that led here.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::{Array, Names, State, Value, remove};
use crate::interpret::printed::MAX_WAYS;

/// More of them together are not told apart.
pub(crate) const MAX_TOGETHER: usize = 4 * MAX_WAYS;

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    One(Value),
    Several(Rc<Array>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Possible {
    pub(super) held: Vec<Held>,
    /// Whether it is surely one of them.
    pub(super) is_all: bool,
}

impl Possible {
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Where there are not as many, the last.
    pub(super) fn at(&self, number: usize) -> Option<&Held> {
        self.held.get(number).or(self.held.last())
    }

    pub(super) fn add(&mut self, held: &Held) {
        if self.held.contains(held) {
            return;
        }
        if self.held.len() < MAX_WAYS {
            self.held.push(held.clone());
        } else {
            self.is_all = false;
        }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.is_all &= other.is_all;
        other.held.iter().for_each(|held| self.add(held));
    }
}

/// Some more that a variable may be, or who knows what else.
pub(super) fn add_possible(possible: &mut Names<Possible>, name: &Arc<str>, held: impl IntoIterator<Item = Held>) {
    let mut held = held.into_iter().peekable();
    if held.peek().is_some() {
        let known = Rc::make_mut(possible).entry(Arc::clone(name)).or_default();
        known.is_all = false;
        held.for_each(|held| known.add(&held));
    }
}

impl State {
    /// What is set otherwise there may be so here.
    pub(crate) fn may_be_as(&mut self, other: &Self) {
        self.parameters.positional.may_be_as(&other.parameters.positional);
        if Rc::ptr_eq(&self.variables.values, &other.variables.values) {
            return;
        }
        for name in other.variables.values.keys() {
            let held = other.variables.held(name).filter(|held| self.variables.held(name).as_ref() != Some(held));
            add_possible(&mut self.variables.possible, name, held);
        }
    }

    /// It is surely one of these.
    pub(crate) fn is_one_of(&mut self, name: &str, values: &[Value]) {
        self.assign(name, None);
        let mut ways = Possible { held: Vec::new(), is_all: true };
        for value in values {
            ways.add(&Held::One(value.clone()));
        }
        Rc::make_mut(&mut self.variables.possible).insert(name.into(), ways);
    }

    /// One state for each thing that the first variable in a text may be, where it is surely one of them; none where
    /// no variable in it is like that, or too many are.
    pub(crate) fn decided_in(&self, text: &str, limit: usize) -> Vec<Self> {
        let decided =
            |name: &str| self.variables.possible.get_key_value(name).filter(|(_, ways)| ways.is_all && ways.len() > 1);
        let names: BTreeSet<&str> = used_in(text).collect();
        let decided: Vec<(&Arc<str>, &Possible)> = names.into_iter().filter_map(decided).collect();
        let together = decided.iter().fold(1_usize, |count, (_, ways)| count.saturating_mul(ways.len()));
        let Some((name, ways)) = decided.first().filter(|_| together <= limit) else { return Vec::new() };
        ways.held.iter().map(|held| self.holding(name, held)).collect()
    }

    fn holding(&self, name: &Arc<str>, held: &Held) -> Self {
        let mut state = self.clone();
        state.variables.environment = None;
        remove(&mut state.variables.possible, name);
        let value = match held {
            Held::One(value) => Some(value.clone()),
            Held::Several(array) => {
                Rc::make_mut(&mut state.variables.arrays).insert(Arc::clone(name), Rc::clone(array));
                None
            }
        };
        Rc::make_mut(&mut state.variables.values).insert(Arc::clone(name), value);
        state
    }

    /// How many things the variables that a text uses may be.
    pub(crate) fn possible_in(&self, text: &str) -> usize {
        let is_argument = |letter: char| letter.is_ascii_digit() || matches!(letter, '@' | '*' | '#');
        let behind = text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
        let arguments =
            behind.filter(|rest| rest.starts_with(is_argument)).map(|_| self.parameters.positional.possible());
        let named = used_in(text).filter_map(|name| self.variables.possible.get(name)).map(Possible::len);
        arguments.chain(named).max().unwrap_or(0)
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// The names of the variables whose values count in a text.
fn used_in(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.split('$').skip(1).map(|rest| rest.trim_start_matches(['{', '#', '!']));
    let expanded = behind.filter_map(|rest| rest.get(..rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len())));
    // What is put behind a value changes with it.
    let appended = text.match_indices("+=");
    let appended = appended.filter_map(|(place, _)| text.get(..place)?.rsplit(|letter| !is_of_name(letter)).next());
    expanded.chain(appended)
}
