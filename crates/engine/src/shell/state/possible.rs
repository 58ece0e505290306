//! What a variable may be that nobody knows: the values on the ways that led here.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::super::printed::MAX_WAYS;
use super::{Array, Names, State, Value, remove};

/// More of them together are not told apart.
pub(in super::super) const MAX_TOGETHER: usize = 4 * MAX_WAYS;

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Held {
    One(Value),
    Several(Rc<Array>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Possible {
    held: Vec<Held>,
    /// Whether it is surely one of them.
    is_all: bool,
}

impl Possible {
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Where there are not as many, the last.
    pub(super) fn at(&self, number: usize) -> Option<&Held> {
        self.held.get(number).or(self.held.last())
    }

    fn add(&mut self, held: &Held) {
        if self.held.contains(held) {
            return;
        }
        if self.held.len() < MAX_WAYS {
            self.held.push(held.clone());
        } else {
            self.is_all = false;
        }
    }

    fn add_all(&mut self, other: &Self) {
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
    /// What it surely holds.
    pub(super) fn held(&self, name: &str) -> Option<Held> {
        let array = self.arrays.get(name).cloned().map(Held::Several);
        array.or_else(|| self.variables.get(name)?.clone().map(Held::One))
    }

    /// All that it may hold.
    fn ways_of(&self, name: &str) -> Possible {
        let mut ways = self.possible.get(name).cloned().unwrap_or_default();
        if let Some(held) = self.held(name) {
            ways.is_all |= ways.held.is_empty();
            ways.add(&held);
        }
        ways
    }

    /// Those that differ are not known, but may be what they are here or there.
    pub(super) fn join_held(&mut self, other: &Self) {
        let is_same = Rc::ptr_eq(&self.variables, &other.variables)
            && Rc::ptr_eq(&self.arrays, &other.arrays)
            && Rc::ptr_eq(&self.possible, &other.possible);
        if is_same {
            return;
        }
        let names = |state: &Self| state.variables.keys().chain(state.possible.keys()).cloned().collect::<Vec<_>>();
        let differs = |name: &Arc<str>| {
            self.variables.get(name) != other.variables.get(name)
                || self.arrays.get(name) != other.arrays.get(name)
                || self.possible.get(name) != other.possible.get(name)
        };
        let names: BTreeSet<Arc<str>> = names(self).into_iter().chain(names(other)).filter(differs).collect();
        for name in names {
            let mut ways = self.ways_of(&name);
            ways.add_all(&other.ways_of(&name));
            let is_set = self.variables.contains_key(&name) || other.variables.contains_key(&name);
            let is_known = self.held(&name) == other.held(&name);
            if is_set && !is_known {
                self.environment = None;
                remove(&mut self.arrays, &name);
                Rc::make_mut(&mut self.variables).insert(Arc::clone(&name), None);
            }
            if !ways.held.is_empty() {
                Rc::make_mut(&mut self.possible).insert(name, ways);
            }
        }
    }

    /// It may be any of these.
    pub(in super::super) fn may_be(&mut self, name: &str, values: &[Value]) {
        add_possible(&mut self.possible, &name.into(), values.iter().cloned().map(Held::One));
    }

    /// What is set otherwise there may be so here.
    pub(in super::super) fn may_be_as(&mut self, other: &Self) {
        self.positional.may_be_as(&other.positional);
        if Rc::ptr_eq(&self.variables, &other.variables) {
            return;
        }
        for name in other.variables.keys() {
            let held = other.held(name).filter(|held| self.held(name).as_ref() != Some(held));
            add_possible(&mut self.possible, name, held);
        }
    }

    /// It is surely one of these.
    pub(in super::super) fn is_one_of(&mut self, name: &str, values: &[Value]) {
        self.assign(name, None);
        let mut ways = Possible { held: Vec::new(), is_all: true };
        for value in values {
            ways.add(&Held::One(value.clone()));
        }
        Rc::make_mut(&mut self.possible).insert(name.into(), ways);
    }

    /// It may be something else as well.
    pub(super) fn doubt(&mut self, name: &str) {
        if self.possible.get(name).is_some_and(|possible| possible.is_all)
            && let Some(possible) = Rc::make_mut(&mut self.possible).get_mut(name)
        {
            possible.is_all = false;
        }
    }

    /// Something else may have happened to all of them.
    pub(super) fn doubt_possible(&mut self) {
        if self.possible.values().any(|possible| possible.is_all) {
            for possible in Rc::make_mut(&mut self.possible).values_mut() {
                possible.is_all = false;
            }
        }
    }

    /// The array of this name, or the one that it is taken to be.
    pub(super) fn array(&self, name: &str) -> Option<&Rc<Array>> {
        let assumed = self.assumes.and_then(|number| self.possible.get(name)?.at(number));
        match assumed {
            Some(Held::Several(array)) => Some(array),
            Some(Held::One(_)) => None,
            None => self.arrays.get(name),
        }
    }

    /// One state for each thing that the first variable in a text may be, where it is surely one of them; none where
    /// no variable in it is like that, or too many are.
    pub(in super::super) fn decided_in(&self, text: &str, limit: usize) -> Vec<Self> {
        let decided = |name: &str| self.possible.get_key_value(name).filter(|(_, ways)| ways.is_all && ways.len() > 1);
        let names: BTreeSet<&str> = used_in(text).collect();
        let decided: Vec<(&Arc<str>, &Possible)> = names.into_iter().filter_map(decided).collect();
        let together = decided.iter().fold(1_usize, |count, (_, ways)| count.saturating_mul(ways.len()));
        let Some((name, ways)) = decided.first().filter(|_| together <= limit) else { return Vec::new() };
        ways.held.iter().map(|held| self.holding(name, held)).collect()
    }

    fn holding(&self, name: &Arc<str>, held: &Held) -> Self {
        let mut state = self.clone();
        state.environment = None;
        remove(&mut state.possible, name);
        let value = match held {
            Held::One(value) => Some(value.clone()),
            Held::Several(array) => {
                Rc::make_mut(&mut state.arrays).insert(Arc::clone(name), Rc::clone(array));
                None
            }
        };
        Rc::make_mut(&mut state.variables).insert(Arc::clone(name), value);
        state
    }

    /// How many things the variables that a text uses may be.
    pub(in super::super) fn possible_in(&self, text: &str) -> usize {
        let is_argument = |letter: char| letter.is_ascii_digit() || matches!(letter, '@' | '*' | '#');
        let behind = text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
        let arguments = behind.filter(|rest| rest.starts_with(is_argument)).map(|_| self.positional.possible());
        let named = used_in(text).filter_map(|name| self.possible.get(name)).map(Possible::len);
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
