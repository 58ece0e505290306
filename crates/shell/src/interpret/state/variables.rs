//! Shell variables: their known and possible values, and their export to programs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::attribute::Attribute;
use super::possible_values::{Contents, PossibleValues, add_possible};
use super::shared_map::{add_missing, remove};
use super::{Array, SharedMap, Value};
use crate::model::{ExportedVariable, RemovedVariables, Word};

#[derive(Clone, Default)]
pub(crate) struct Variables {
    /// `None`: set to an unknown value. Variables that the script never sets are missing; they may be inherited.
    pub(super) values: SharedMap<Option<Value>>,
    /// Possible values of variables that are not known, from the control-flow paths that led here.
    pub(super) possible: SharedMap<PossibleValues>,
    /// The index of the possible values that are assumed.
    pub(crate) assumed_index: Option<usize>,
    /// Arrays all of whose elements are known.
    pub(super) arrays: SharedMap<Rc<Array>>,
    /// Attributes that convert assigned values: `declare -l`.
    pub(super) attributes: SharedMap<Attribute>,
    /// References to other variables: `declare -n`.
    pub(super) references: SharedMap<Arc<str>>,
    /// For each function on the call stack, the values that its local variables hide.
    pub(super) locals: Vec<SharedMap<PreviousValue>>,
    /// The number of assignments to variables whose names are not known.
    pub(crate) unknown_name_assignments: usize,
    /// `PATH`, if the script has set it.
    pub(crate) path: Option<String>,
    /// Inherited variables that programs no longer see.
    pub(crate) removed: RemovedVariables,
    /// Names of exported variables.
    pub(super) exported: Rc<BTreeSet<Arc<str>>>,
    /// Cached exported variables with their values; `None` after a change.
    pub(super) environment: Option<Arc<[ExportedVariable]>>,
}

/// The value of a variable before a local variable or a temporary assignment hid it.
#[derive(Clone)]
pub(crate) enum PreviousValue {
    NeverSet,
    Set { value: Option<Value>, array: Option<Rc<Array>>, possible: Option<PossibleValues> },
}

/// Longer values of `IFS` count as unknown.
const MAX_SEPARATORS: usize = 16;

impl Variables {
    /// Returns the environment that the script gives to programs.
    pub(crate) fn exported(&mut self) -> Arc<[ExportedVariable]> {
        let known = |name: &Arc<str>| {
            let value = self.values.get(name)?.as_ref().map(|value| Arc::clone(&value.text));
            Some(ExportedVariable { name: Arc::clone(name), value })
        };
        let home: Arc<str> = "HOME".into();
        let exported = || self.exported.iter().chain([&home]).filter_map(known).collect();
        let environment = self.environment.take().unwrap_or_else(exported);
        Arc::clone(self.environment.insert(environment))
    }

    pub(super) fn export_name(&mut self, name: &str) {
        if !self.exported.contains(name) {
            self.environment = None;
            Rc::make_mut(&mut self.exported).insert(name.into());
        }
    }

    /// Removes variables from the environment for a while. Returns those that were already removed; `None` if there is
    /// nothing to remove.
    pub(crate) fn remove_variables(&mut self, more: &RemovedVariables) -> Option<RemovedVariables> {
        let before = (*more != RemovedVariables::default()).then(|| self.removed.clone());
        self.removed.or(more);
        before
    }

    /// Notes the `PATH` that the script sets.
    pub(crate) fn note_path(&mut self, name: &str, value: &Word) {
        if name == "PATH" {
            self.path = Some(value.value.as_deref().unwrap_or(&value.shown).to_owned());
        }
    }

    pub(super) fn previous_value(&self, name: &str) -> PreviousValue {
        self.values.get(name).map_or(PreviousValue::NeverSet, |value| PreviousValue::Set {
            value: value.clone(),
            array: self.arrays.get(name).cloned(),
            possible: self.possible.get(name).cloned(),
        })
    }

    /// Restores a previous value.
    pub(super) fn restore(&mut self, name: &Arc<str>, before: &PreviousValue) {
        remove(&mut self.possible, name);
        remove(&mut self.arrays, name);
        remove(&mut self.attributes, name);
        self.environment = None;
        let variables = Rc::make_mut(&mut self.values);
        match before {
            PreviousValue::Set { value, array, possible } => {
                variables.insert(Arc::clone(name), value.clone());
                if let Some(array) = array {
                    Rc::make_mut(&mut self.arrays).insert(Arc::clone(name), Rc::clone(array));
                }
                if let Some(possible) = possible {
                    Rc::make_mut(&mut self.possible).insert(Arc::clone(name), possible.clone());
                }
            }
            PreviousValue::NeverSet => drop(variables.remove(name)),
        }
    }

    pub(crate) fn sets_separators(&self) -> bool {
        self.values.contains_key("IFS")
    }

    /// The separators at which unquoted expansions are split; `None` if they are not known.
    pub(crate) fn field_separators(&self) -> Option<Cow<'static, str>> {
        match self.values.get("IFS") {
            None => Some(Cow::Borrowed(" \t\n")),
            // While a possible value is assumed, the default separators are assumed too.
            Some(None) if self.assumed_index.is_some() => Some(Cow::Borrowed(" \t\n")),
            Some(separators) => {
                let few = separators.as_ref().filter(|value| value.text.len() <= MAX_SEPARATORS);
                few.map(|value| Cow::Owned(value.text.to_string()))
            }
        }
    }

    /// Returns the known contents of a variable.
    pub(super) fn known_contents(&self, name: &str) -> Option<Contents> {
        let array = self.arrays.get(name).cloned().map(Contents::Array);
        array.or_else(|| self.values.get(name)?.clone().map(Contents::Scalar))
    }

    /// Returns all contents that a variable may have.
    fn possible_contents(&self, name: &str) -> PossibleValues {
        let mut possible = self.possible.get(name).cloned().unwrap_or_default();
        if let Some(contents) = self.known_contents(name) {
            possible.is_complete |= possible.contents.is_empty();
            possible.add(&contents);
        }
        possible
    }

    /// Variables that differ become unknown. Both values become possible.
    pub(super) fn join_values(&mut self, other: &Self) {
        let is_same = Rc::ptr_eq(&self.values, &other.values)
            && Rc::ptr_eq(&self.arrays, &other.arrays)
            && Rc::ptr_eq(&self.possible, &other.possible);
        if is_same {
            return;
        }
        let names =
            |variables: &Self| variables.values.keys().chain(variables.possible.keys()).cloned().collect::<Vec<_>>();
        let differs = |name: &Arc<str>| {
            self.values.get(name) != other.values.get(name)
                || self.arrays.get(name) != other.arrays.get(name)
                || self.possible.get(name) != other.possible.get(name)
        };
        let names: BTreeSet<Arc<str>> = names(self).into_iter().chain(names(other)).filter(differs).collect();
        for name in names {
            let mut possible = self.possible_contents(&name);
            possible.add_all(&other.possible_contents(&name));
            let is_set = self.values.contains_key(&name) || other.values.contains_key(&name);
            let is_known = self.known_contents(&name) == other.known_contents(&name);
            if is_set && !is_known {
                self.environment = None;
                remove(&mut self.arrays, &name);
                Rc::make_mut(&mut self.values).insert(Arc::clone(&name), None);
            }
            if !possible.contents.is_empty() {
                Rc::make_mut(&mut self.possible).insert(name, possible);
            }
        }
    }

    /// Adds possible values of a variable.
    pub(crate) fn add_possible_values(&mut self, name: &str, values: &[Value]) {
        add_possible(&mut self.possible, &name.into(), values.iter().cloned().map(Contents::Scalar));
    }

    /// The variable may also have a value that is not listed.
    pub(super) fn mark_incomplete(&mut self, name: &str) {
        if self.possible.get(name).is_some_and(|possible| possible.is_complete)
            && let Some(possible) = Rc::make_mut(&mut self.possible).get_mut(name)
        {
            possible.is_complete = false;
        }
    }

    /// Every variable may also have a value that is not listed.
    pub(super) fn mark_all_incomplete(&mut self) {
        if self.possible.values().any(|possible| possible.is_complete) {
            for possible in Rc::make_mut(&mut self.possible).values_mut() {
                possible.is_complete = false;
            }
        }
    }

    /// The known array of this name, or the one that is assumed.
    pub(super) fn array(&self, name: &str) -> Option<&Rc<Array>> {
        let assumed = self.assumed_index.and_then(|index| self.possible.get(name)?.at(index));
        match assumed {
            Some(Contents::Array(array)) => Some(array),
            Some(Contents::Scalar(_)) => None,
            None => self.arrays.get(name),
        }
    }

    /// Makes these the variables after either of two control-flow paths.
    pub(super) fn join(&mut self, other: &Self) {
        self.join_values(other);
        self.removed.or(&other.removed);
        self.unknown_name_assignments = self.unknown_name_assignments.max(other.unknown_name_assignments);
        add_missing(&mut self.references, &other.references);
        add_missing(&mut self.attributes, &other.attributes);
    }
}
