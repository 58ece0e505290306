//! `$1`, `$2`, …: what a script or a function is given, or `set` sets.

use std::rc::Rc;

use super::Value;
use crate::interpret::printed::MAX_WAYS;

#[derive(Debug, Clone)]
pub(crate) struct Positional {
    given: Rc<[Option<Value>]>,
    /// How many of them `shift` has taken away.
    shifted: usize,
}

/// What is known of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Arguments {
    known: Option<Positional>,
    /// What they may be as well: those on the ways that led here.
    possible: Vec<Positional>,
}

impl Positional {
    fn list(&self) -> &[Option<Value>] {
        self.given.get(self.shifted..).unwrap_or_default()
    }

    pub(crate) fn is_known(&self) -> bool {
        self.list().iter().all(Option::is_some)
    }

    /// Where there are not as many, nothing is taken away.
    fn shift(&mut self, count: usize) {
        if count <= self.list().len() {
            self.shifted += count;
        }
    }
}

impl PartialEq for Positional {
    fn eq(&self, other: &Self) -> bool {
        let is_same = Rc::ptr_eq(&self.given, &other.given) && self.shifted == other.shifted;
        is_same || self.list() == other.list()
    }
}

impl FromIterator<Option<Value>> for Positional {
    fn from_iter<I: IntoIterator<Item = Option<Value>>>(values: I) -> Self {
        Self { given: values.into_iter().collect(), shifted: 0 }
    }
}

impl From<Positional> for Arguments {
    fn from(known: Positional) -> Self {
        Self { known: Some(known), possible: Vec::new() }
    }
}

impl Arguments {
    /// `assumes`: which of those they may be they are taken to be.
    pub(super) fn list(&self, assumes: Option<usize>) -> Option<&[Option<Value>]> {
        let taken = assumes.and_then(|number| self.possible.get(number).or(self.possible.last()));
        taken.or(self.known.as_ref()).map(Positional::list)
    }

    /// How many they may be, none of them for sure.
    pub(super) fn possible(&self) -> usize {
        self.possible.len()
    }

    /// `None`: nobody knows how many are taken away.
    pub(super) fn shift(&mut self, count: Option<usize>) {
        match count {
            Some(count) => self.known.iter_mut().chain(&mut self.possible).for_each(|given| given.shift(count)),
            None => *self = Self::default(),
        }
    }

    /// They may have changed.
    pub(super) fn forget(&mut self) {
        let known = self.known.take();
        self.add(known);
    }

    /// As on either of two ways.
    pub(super) fn join(&mut self, other: &Self) {
        if self.known != other.known {
            self.forget();
            self.add(other.known.clone());
        }
        self.add(other.possible.iter().cloned());
    }

    /// What they are there they may be here.
    pub(super) fn may_be_as(&mut self, other: &Self) {
        if self.known != other.known {
            self.add(other.known.clone());
        }
    }

    fn add(&mut self, more: impl IntoIterator<Item = Positional>) {
        for given in more {
            if self.possible.len() < MAX_WAYS && !self.possible.contains(&given) {
                self.possible.push(given);
            }
        }
    }
}
