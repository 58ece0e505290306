//! Assignments to variables whose names may be computed: `read "$name"`, `declare "x_$i=…"`.

use std::rc::Rc;
use std::sync::Arc;

use super::possible_values::{ScalarOrArray, add_possible};
use super::{INHERITED_VARIABLES, State, Value, remove};
use crate::model::Word;

/// The name of a variable, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableName<'w> {
    Known(&'w str),
    /// The name is not known, except for its start.
    StartsWith(&'w str),
}

impl<'w> VariableName<'w> {
    /// Reads the name that starts at a byte offset of a word.
    pub(crate) fn of(word: &'w Word, from: usize) -> Self {
        match &word.value {
            Some(text) => Self::Known(text.get(from..).unwrap_or_default()),
            None => Self::parse(word.shown.get(from..).unwrap_or_default()),
        }
    }

    /// Reads a name that may contain expansions.
    pub(super) fn parse(text: &'w str) -> Self {
        match text.split_once(['$', '`']) {
            // `a[$i]` is an element of the array `a`.
            Some((start, _)) if !start.contains('[') => Self::StartsWith(start),
            _ => Self::Known(text),
        }
    }
}

impl State {
    /// Assigns a value to the variable. If only the start of its name is known, the value becomes possible for every
    /// variable whose name has this start.
    pub(crate) fn assign_by_name(&mut self, name: VariableName, value: Option<Value>) {
        match name {
            VariableName::Known(name) => self.assign(name, value),
            VariableName::StartsWith(start) => self.assign_unknown_name(start, value.as_ref()),
        }
    }

    /// Applies an assignment to an unknown variable whose name starts with `start`. Each variable whose name has this
    /// start may now have its previous value or the new value.
    pub(super) fn assign_unknown_name(&mut self, start: &str, value: Option<&Value>) {
        let inherited = INHERITED_VARIABLES.iter().chain(&["HOME"]).map(|name| Arc::from(*name));
        let names: Vec<Arc<str>> = self.variables.values.keys().cloned().chain(inherited).collect();
        for name in names.iter().filter(|name| name.starts_with(start)) {
            let before = self.variables.known_value(name).or_else(|| self.value(name).map(ScalarOrArray::Scalar));
            add_possible(
                &mut self.variables.possible,
                name,
                before.into_iter().chain(value.cloned().map(ScalarOrArray::Scalar)),
            );
            self.variables.mark_incomplete(name);
            remove(&mut self.variables.arrays, name);
            Rc::make_mut(&mut self.variables.values).insert(Arc::clone(name), None);
        }
        self.variables.environment = None;
        self.variables.unknown_name_assignments += 1;
    }

    /// Applies `${NAME:=value}`: if the variable may be unset or empty, the value becomes possible.
    pub(crate) fn assign_default(&mut self, name: VariableName, value: Option<&Value>) {
        let names: Vec<Arc<str>> = match name {
            VariableName::Known(name) => vec![name.into()],
            VariableName::StartsWith(start) => {
                self.variables.values.keys().filter(|name| name.starts_with(start)).cloned().collect()
            }
        };
        for name in names {
            let is_empty = self.value(&name).is_some_and(|before| before.text.is_empty());
            match value {
                Some(value) if is_empty || matches!(self.variables.values.get(&name), None | Some(None)) => {
                    add_possible(&mut self.variables.possible, &name, [ScalarOrArray::Scalar(value.clone())]);
                }
                None if is_empty => self.assign(&name, None),
                _ => {}
            }
        }
    }
}
