//! Positional parameters (`$1`, `$2`, …), which are set by `set` and by calls of functions and scripts.

use std::rc::Rc;

use super::Value;
use crate::interpret::possible_output::MAX_ALTERNATIVES;

/// The values of `$1`, `$2`, …; `None` for an unknown value.
#[derive(Debug, Clone)]
pub(crate) struct ParameterList {
    values: Rc<[Option<Value>]>,
    /// How many values at the start of the list `shift` has removed.
    shifted: usize,
}

/// The positional parameters, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PositionalParameters {
    known: Option<ParameterList>,
    /// Other possible lists, from the control-flow paths that lead to the current command.
    possible: Vec<ParameterList>,
}

impl ParameterList {
    fn list(&self) -> &[Option<Value>] {
        self.values.get(self.shifted..).unwrap_or_default()
    }

    pub(crate) fn is_known(&self) -> bool {
        self.list().iter().all(Option::is_some)
    }

    /// Removes the first `count` parameters. If there are fewer parameters, `shift` does nothing.
    fn shift(&mut self, count: usize) {
        if count <= self.list().len() {
            self.shifted += count;
        }
    }
}

impl PartialEq for ParameterList {
    fn eq(&self, other: &Self) -> bool {
        let is_same = Rc::ptr_eq(&self.values, &other.values) && self.shifted == other.shifted;
        is_same || self.list() == other.list()
    }
}

impl FromIterator<Option<Value>> for ParameterList {
    fn from_iter<I: IntoIterator<Item = Option<Value>>>(values: I) -> Self {
        Self { values: values.into_iter().collect(), shifted: 0 }
    }
}

impl From<ParameterList> for PositionalParameters {
    fn from(known: ParameterList) -> Self {
        Self { known: Some(known), possible: Vec::new() }
    }
}

impl PositionalParameters {
    /// Returns the assumed list, if a list is assumed, otherwise the known list. `assumed_index`: the index of the
    /// assumed list among the possible lists.
    pub(super) fn list(&self, assumed_index: Option<usize>) -> Option<&[Option<Value>]> {
        let assumed = assumed_index.and_then(|index| self.possible.get(index).or(self.possible.last()));
        assumed.or(self.known.as_ref()).map(ParameterList::list)
    }

    /// The number of possible lists.
    pub(super) fn possible_count(&self) -> usize {
        self.possible.len()
    }

    /// Applies `shift` to all lists. `count`: the number of removed parameters; `None` if it is not known.
    pub(super) fn shift(&mut self, count: Option<usize>) {
        match count {
            Some(count) => self.known.iter_mut().chain(&mut self.possible).for_each(|list| list.shift(count)),
            None => *self = Self::default(),
        }
    }

    /// Notes that the parameters may have changed. The known list becomes a possible list.
    pub(super) fn forget(&mut self) {
        let known = self.known.take();
        self.add(known);
    }

    /// Joins the parameters of another control-flow path into these parameters.
    pub(super) fn join(&mut self, other: &Self) {
        if self.known != other.known {
            self.forget();
            self.add(other.known.clone());
        }
        self.add(other.possible.iter().cloned());
    }

    /// Adds another state's known list as a possible list.
    pub(super) fn add_possible_from(&mut self, other: &Self) {
        if self.known != other.known {
            self.add(other.known.clone());
        }
    }

    fn add(&mut self, more: impl IntoIterator<Item = ParameterList>) {
        for list in more {
            if self.possible.len() < MAX_ALTERNATIVES && !self.possible.contains(&list) {
                self.possible.push(list);
            }
        }
    }
}
