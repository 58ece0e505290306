//! Variables that commands set by name, where the name need not be known: `read "$name"`, `declare "x_$i=…"`.

use std::rc::Rc;
use std::sync::Arc;

use super::possible::{Held, add_possible};
use super::{FROM_OUTSIDE, State, Value, remove};
use crate::model::Word;

/// Which variable is meant, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name<'w> {
    Known(&'w str),
    /// Any that begins like this.
    BeginsWith(&'w str),
}

impl<'w> Name<'w> {
    /// Of what stands in a word from a place on.
    pub(crate) fn of(word: &'w Word, from: usize) -> Self {
        match &word.value {
            Some(text) => Self::Known(text.get(from..).unwrap_or_default()),
            None => Self::as_written(word.shown.get(from..).unwrap_or_default()),
        }
    }

    /// With expansions in it, or without.
    pub(super) fn as_written(text: &'w str) -> Self {
        match text.split_once(['$', '`']) {
            // Of `a[$i]`, the array is known.
            Some((start, _)) if !start.contains('[') => Self::BeginsWith(start),
            _ => Self::Known(text),
        }
    }
}

impl State {
    pub(crate) fn assign_named(&mut self, name: Name, value: Option<Value>) {
        match name {
            Name::Known(name) => self.assign(name, value),
            Name::BeginsWith(start) => self.may_assign_any(start, value.as_ref()),
        }
    }

    /// One of those that begin like this is set, and nobody knows which: each is what it was, or something else.
    pub(super) fn may_assign_any(&mut self, start: &str, value: Option<&Value>) {
        let outside = FROM_OUTSIDE.iter().chain(&["HOME"]).map(|name| Arc::from(*name));
        let names: Vec<Arc<str>> = self.variables.values.keys().cloned().chain(outside).collect();
        for name in names.iter().filter(|name| name.starts_with(start)) {
            let before = self.variables.held(name).or_else(|| self.value(name).map(Held::One));
            add_possible(&mut self.variables.possible, name, before.into_iter().chain(value.cloned().map(Held::One)));
            self.variables.doubt(name);
            remove(&mut self.variables.arrays, name);
            Rc::make_mut(&mut self.variables.values).insert(Arc::clone(name), None);
        }
        self.variables.environment = None;
        self.variables.set_blindly += 1;
    }

    /// `${NAME:=value}`: it is set from then on, unless it was before.
    pub(crate) fn assign_default(&mut self, name: Name, value: Option<&Value>) {
        let names: Vec<Arc<str>> = match name {
            Name::Known(name) => vec![name.into()],
            Name::BeginsWith(start) => {
                self.variables.values.keys().filter(|name| name.starts_with(start)).cloned().collect()
            }
        };
        for name in names {
            let is_empty = self.value(&name).is_some_and(|before| before.text.is_empty());
            match value {
                Some(value) if is_empty || matches!(self.variables.values.get(&name), None | Some(None)) => {
                    add_possible(&mut self.variables.possible, &name, [Held::One(value.clone())]);
                }
                None if is_empty => self.assign(&name, None),
                _ => {}
            }
        }
    }
}
