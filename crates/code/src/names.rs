//! The possible values of names.

use std::collections::BTreeMap;

use super::statement_order::StatementOrder;
use super::value::Value;

/// A name with more possible lists than this is unknown.
const MAX_LISTS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Names {
    /// All values that are assigned to a name, merged.
    values: BTreeMap<String, Value>,
    /// Modules that were imported with `from module import *`.
    pub(super) star_imports: Vec<String>,
    pub(super) changed: bool,
    /// Elements that are appended to lists, by the list's name and by the position of the call.
    appended: BTreeMap<String, BTreeMap<usize, Vec<Value>>>,
    /// The values of those lists without the appended elements.
    bases: BTreeMap<String, Value>,
    /// True in late rounds: a name that still changes becomes unknown.
    pub(super) gives_up_changing: bool,
}

impl Names {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.values()
    }

    /// Returns the previous and the new value if they differ.
    pub(super) fn bind(&mut self, name: &str, value: Value) -> Option<(Value, Value)> {
        if value.is_pending() {
            self.changed = true;
            return None;
        }
        let value = match self.bases.get(name).cloned() {
            Some(base) => {
                let base = base.or(value);
                self.bases.insert(name.to_owned(), base.clone());
                self.with_appended(name, &base)
            }
            None => value,
        };
        let Some(known) = self.values.get(name) else {
            self.changed = true;
            self.values.insert(name.to_owned(), value);
            return None;
        };
        let both = known.clone().or(value.clone());
        if both == *known {
            return (value != *known).then(|| (known.clone(), value));
        }
        self.changed = true;
        let both = if self.gives_up_changing { Value::Unknown } else { both };
        self.values.insert(name.to_owned(), both).map(|known| (known, value))
    }

    /// Appends elements to a list, as an alternative: conditions are not followed.
    pub(super) fn append(&mut self, name: &str, place: usize, more: Vec<Value>, order: StatementOrder) {
        let Some(base) = self.bases.get(name).or_else(|| self.values.get(name)).cloned() else { return };
        let places = self.appended.entry(name.to_owned()).or_default();
        let is_new = places.get(&place) != Some(&more);
        let differs = is_new && places.insert(place, more).is_some();
        let differs = differs || (order == StatementOrder::Functions && places.len() > 1);
        self.bases.insert(name.to_owned(), if differs { Value::Unknown } else { base.clone() });
        if is_new {
            let value = if differs { Value::Unknown } else { self.with_appended(name, &base) };
            self.changed = true;
            self.values.insert(name.to_owned(), value);
        }
    }

    /// Returns the list with every combination of the appended elements.
    fn with_appended(&self, name: &str, base: &Value) -> Value {
        let mut lists: Vec<Vec<Value>> = base.lists().into_iter().map(Value::into_elements).collect();
        for more in self.appended.get(name).into_iter().flat_map(BTreeMap::values) {
            if lists.len() > MAX_LISTS {
                return Value::Unknown;
            }
            lists = lists.into_iter().flat_map(|list| [list.clone(), [list, more.clone()].concat()]).collect();
        }
        lists.into_iter().map(Value::List).reduce(Value::or).unwrap_or(Value::Unknown)
    }
}
