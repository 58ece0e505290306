//! Variables of the shell: what each is, may be, and what programs get to see of them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::attribute::Attribute;
use super::possible::{Held, Possible, add_possible};
use super::shared_map::{add_missing, remove};
use super::{Array, Names, Value};
use crate::model::{ExportedVariable, RemovedVariables, Word};

#[derive(Clone, Default)]
pub(crate) struct Variables {
    /// `None`: set to something that is not known. What was never set comes from outside and is not known either.
    pub(super) values: Names<Option<Value>>,
    /// What those may be that are not known: the values on the ways that led here.
    pub(super) possible: Names<Possible>,
    /// Which of those they are taken to be.
    pub(crate) assumes: Option<usize>,
    /// Arrays of which every element is known.
    pub(super) arrays: Names<Rc<Array>>,
    /// What becomes of what some variables are set to: `declare -l`.
    pub(super) attributes: Names<Attribute>,
    /// Other names of variables: `declare -n`.
    pub(super) references: Names<Arc<str>>,
    /// For each function around, what its local variables were before.
    pub(super) locals: Vec<Names<PreviousValue>>,
    /// How often one was set by a name that is not known.
    pub(crate) set_blindly: usize,
    /// `PATH` as the script has set it.
    pub(crate) path: Option<String>,
    /// Those that were there before, and that programs do not get to see any more.
    pub(crate) removed: RemovedVariables,
    /// Names of those that programs get to see.
    pub(super) exported: Rc<BTreeSet<Arc<str>>>,
    /// Those with their values; none where it was not asked for since they changed.
    pub(super) environment: Option<Arc<[ExportedVariable]>>,
}

/// What a variable was before a function had one of the same name.
#[derive(Clone)]
pub(crate) enum PreviousValue {
    NeverSet,
    Set { value: Option<Value>, array: Option<Rc<Array>>, possible: Option<Possible> },
}

/// More separators of words are nobody's.
const MAX_SEPARATORS: usize = 16;

impl Variables {
    /// What programs get to see of what the script has set.
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

    /// Takes variables away for a while. Returns those that were gone before, where there are any to take.
    pub(crate) fn remove_variables(&mut self, more: &RemovedVariables) -> Option<RemovedVariables> {
        let before = (*more != RemovedVariables::default()).then(|| self.removed.clone());
        self.removed.or(more);
        before
    }

    /// Where programs are looked for.
    pub(crate) fn note_path(&mut self, name: &str, value: &Word) {
        if name == "PATH" {
            self.path = Some(value.value.as_deref().unwrap_or(&value.shown).to_owned());
        }
    }

    pub(super) fn before(&self, name: &str) -> PreviousValue {
        self.values.get(name).map_or(PreviousValue::NeverSet, |value| PreviousValue::Set {
            value: value.clone(),
            array: self.arrays.get(name).cloned(),
            possible: self.possible.get(name).cloned(),
        })
    }

    /// As it was.
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

    pub(crate) fn has_own_separators(&self) -> bool {
        self.values.contains_key("IFS")
    }

    /// At which unquoted expansions are split; `None` where nobody knows.
    pub(crate) fn separators(&self) -> Option<Cow<'static, str>> {
        match self.values.get("IFS") {
            None => Some(Cow::Borrowed(" \t\n")),
            // Where something is assumed, so is what is usual.
            Some(None) if self.assumes.is_some() => Some(Cow::Borrowed(" \t\n")),
            Some(separators) => {
                let few = separators.as_ref().filter(|value| value.text.len() <= MAX_SEPARATORS);
                few.map(|value| Cow::Owned(value.text.to_string()))
            }
        }
    }

    /// What it surely holds.
    pub(super) fn held(&self, name: &str) -> Option<Held> {
        let array = self.arrays.get(name).cloned().map(Held::Several);
        array.or_else(|| self.values.get(name)?.clone().map(Held::One))
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
            let mut ways = self.ways_of(&name);
            ways.add_all(&other.ways_of(&name));
            let is_set = self.values.contains_key(&name) || other.values.contains_key(&name);
            let is_known = self.held(&name) == other.held(&name);
            if is_set && !is_known {
                self.environment = None;
                remove(&mut self.arrays, &name);
                Rc::make_mut(&mut self.values).insert(Arc::clone(&name), None);
            }
            if !ways.held.is_empty() {
                Rc::make_mut(&mut self.possible).insert(name, ways);
            }
        }
    }

    /// It may be any of these.
    pub(crate) fn may_be(&mut self, name: &str, values: &[Value]) {
        add_possible(&mut self.possible, &name.into(), values.iter().cloned().map(Held::One));
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

    /// As they are if either of two ways was taken.
    pub(super) fn join(&mut self, other: &Self) {
        self.join_values(other);
        self.removed.or(&other.removed);
        self.set_blindly = self.set_blindly.max(other.set_blindly);
        add_missing(&mut self.references, &other.references);
        add_missing(&mut self.attributes, &other.attributes);
    }
}
