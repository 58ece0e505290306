//! Shell variables: their known and possible values, and their export to programs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::attribute::Attribute;
use super::possible_values::{PossibleValues, ScalarOrArray, add_possible};
use super::shared_map::{add_missing, remove};
use super::{Array, SharedMap, Value};
use crate::model::{ExportedVariable, RemovedVariables, Word};

#[derive(Clone, Default)]
pub(crate) struct Variables {
    /// The variables that the script sets; `None` for an unknown value. Variables that the script does not set are not
    /// in this map, and may be inherited.
    pub(super) values: SharedMap<Option<Value>>,
    /// The possible values of variables with unknown values: one value for each control-flow path that leads to the
    /// current command.
    pub(super) possible: SharedMap<PossibleValues>,
    /// While possible values are assumed: the index of the assumed value in each list of possible values.
    pub(crate) assumed_index: Option<usize>,
    /// Arrays all of whose elements are known.
    pub(super) arrays: SharedMap<Rc<Array>>,
    /// Attributes that convert assigned values: `declare -l`.
    pub(super) attributes: SharedMap<Attribute>,
    /// References to other variables: `declare -n`.
    pub(super) references: SharedMap<Arc<str>>,
    /// For each function on the call stack, the previous values of the variables that its local variables shadow.
    pub(super) locals: Vec<SharedMap<PreviousValue>>,
    /// The number of assignments to variables whose names are not known.
    pub(crate) unknown_name_assignments: usize,
    /// `PATH`, if the script has set it.
    pub(crate) path: Option<String>,
    /// Variables that programs no longer inherit from the environment in which the script was started.
    pub(crate) removed: RemovedVariables,
    /// Names of exported variables.
    pub(super) exported: Rc<BTreeSet<Arc<str>>>,
    /// A cache of the exported variables with their values; `None` after a change.
    pub(super) environment: Option<Arc<[ExportedVariable]>>,
}

/// The value of a variable before a local variable shadowed it, or a temporary assignment replaced it.
#[derive(Clone)]
pub(crate) enum PreviousValue {
    NeverSet,
    Set { value: Option<Value>, array: Option<Rc<Array>>, possible: Option<PossibleValues> },
}

/// Longer values of `IFS` count as unknown.
const MAX_SEPARATORS: usize = 16;

impl Variables {
    /// Returns the variables that the script has exported, with their values, and `HOME` if the script has set it.
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

    /// Removes variables from the environment. Returns the variables that were removed before, to be restored later;
    /// `None` if there is nothing to remove.
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

    /// Restores the previous value of a variable.
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

    /// True if the script sets `IFS`.
    pub(crate) fn sets_separators(&self) -> bool {
        self.values.contains_key("IFS")
    }

    /// Returns the characters at which the shell splits unquoted expansions; `None` if these characters are not known.
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

    /// Returns the value of a variable, if it is known.
    pub(super) fn known_value(&self, name: &str) -> Option<ScalarOrArray> {
        let array = self.arrays.get(name).cloned().map(ScalarOrArray::Array);
        array.or_else(|| self.values.get(name)?.clone().map(ScalarOrArray::Scalar))
    }

    /// Returns all values that a variable may have.
    fn possible_values_of(&self, name: &str) -> PossibleValues {
        let mut possible = self.possible.get(name).cloned().unwrap_or_default();
        if let Some(value) = self.known_value(name) {
            possible.is_complete |= possible.values.is_empty();
            possible.add(&value);
        }
        possible
    }

    /// Joins the values of two control-flow paths. A variable whose two values differ becomes unknown, and both values
    /// become possible.
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
            let mut possible = self.possible_values_of(&name);
            possible.add_all(&other.possible_values_of(&name));
            let is_set = self.values.contains_key(&name) || other.values.contains_key(&name);
            let is_known = self.known_value(&name) == other.known_value(&name);
            if is_set && !is_known {
                self.environment = None;
                remove(&mut self.arrays, &name);
                Rc::make_mut(&mut self.values).insert(Arc::clone(&name), None);
            }
            if !possible.values.is_empty() {
                Rc::make_mut(&mut self.possible).insert(name, possible);
            }
        }
    }

    /// Adds possible values of a variable.
    pub(crate) fn add_possible_values(&mut self, name: &str, values: &[Value]) {
        add_possible(&mut self.possible, &name.into(), values.iter().cloned().map(ScalarOrArray::Scalar));
    }

    /// Notes that a variable may also have a value that is not listed.
    pub(super) fn mark_incomplete(&mut self, name: &str) {
        if self.possible.get(name).is_some_and(|possible| possible.is_complete)
            && let Some(possible) = Rc::make_mut(&mut self.possible).get_mut(name)
        {
            possible.is_complete = false;
        }
    }

    /// Notes that every variable may also have a value that is not listed.
    pub(super) fn mark_all_incomplete(&mut self) {
        if self.possible.values().any(|possible| possible.is_complete) {
            for possible in Rc::make_mut(&mut self.possible).values_mut() {
                possible.is_complete = false;
            }
        }
    }

    /// Returns the array of this name. If the walk currently assumes one of the variable's possible values, that value
    /// counts (`None` if it is a scalar); otherwise the known array.
    pub(super) fn array(&self, name: &str) -> Option<&Rc<Array>> {
        let assumed = self.assumed_index.and_then(|index| self.possible.get(name)?.at(index));
        match assumed {
            Some(ScalarOrArray::Array(array)) => Some(array),
            Some(ScalarOrArray::Scalar(_)) => None,
            None => self.arrays.get(name),
        }
    }

    /// Joins the variables of another control-flow path into these variables.
    pub(super) fn join(&mut self, other: &Self) {
        self.join_values(other);
        self.removed.or(&other.removed);
        self.unknown_name_assignments = self.unknown_name_assignments.max(other.unknown_name_assignments);
        add_missing(&mut self.references, &other.references);
        add_missing(&mut self.attributes, &other.attributes);
    }
}
