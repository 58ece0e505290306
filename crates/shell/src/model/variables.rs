//! Variables that a command sets or inherits, and variables that are removed from its environment.

use std::sync::Arc;

use super::Word;

/// `NAME=value`, `NAME+=value`, `NAME[index]=value` or `NAME=(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    /// The new value of the variable; unknown for an array.
    pub value: Word,
}

/// A variable that programs inherit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedVariable {
    pub name: Arc<str>,
    /// `None` if the value is not known.
    pub value: Option<Arc<str>>,
}

/// Variables that are removed from the environment: by `unset`, `env -u`, `env -i`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemovedVariables {
    names: Arc<[Arc<str>]>,
    all: bool,
}

impl RemovedVariables {
    pub fn has(&self, name: &str) -> bool {
        self.all || self.names.iter().any(|removed| &**removed == name)
    }

    pub(crate) fn add(&mut self, name: &str) {
        if !self.has(name) {
            self.names = self.names.iter().cloned().chain([name.into()]).collect();
        }
    }

    pub(crate) fn add_all(&mut self) {
        self.all = true;
    }

    /// Joins two control-flow paths: a variable that was removed on either path counts as removed.
    pub(crate) fn or(&mut self, other: &Self) {
        self.all |= other.all;
        if !Arc::ptr_eq(&self.names, &other.names) {
            other.names.iter().for_each(|name| self.add(name));
        }
    }
}

/// The value of a variable that is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variable<'c> {
    Known(&'c str),
    Unknown,
}

impl<'c> Variable<'c> {
    pub(super) fn of(value: Option<&'c str>) -> Self {
        value.map_or(Self::Unknown, Self::Known)
    }

    pub(crate) fn known(self) -> Option<&'c str> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown => None,
        }
    }
}
