//! The names that a program has bound so far, with their possible values.

use std::collections::BTreeMap;

use super::statement_order::StatementOrder;
use super::value::Value;

/// A name with more possible lists than this becomes unknown.
const MAX_LISTS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Bindings {
    /// The value of each name: all values that are assigned to it, merged.
    values: BTreeMap<String, Value>,
    /// Modules that were imported with `from module import *`.
    pub(super) star_imports: Vec<String>,
    /// True if the value of any name has changed in this round.
    pub(super) has_changed: bool,
    /// Elements that the program appends to lists, by the name of the list and the position of the call in the source.
    appended: BTreeMap<String, BTreeMap<usize, Vec<Value>>>,
    /// The lists that elements are appended to, as they are without these elements.
    initial_lists: BTreeMap<String, Value>,
    /// True in late rounds, in which a name that still changes becomes unknown.
    pub(super) widens_to_unknown: bool,
}

impl Bindings {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.values()
    }

    /// Merges a value with those that the name already has. Returns the previous and the new value if they differ.
    pub(super) fn bind(&mut self, name: &str, value: Value) -> Option<(Value, Value)> {
        if value.is_pending() {
            self.has_changed = true;
            return None;
        }
        let value = match self.initial_lists.get(name).cloned() {
            Some(initial_list) => {
                let initial_list = initial_list.or(value);
                self.initial_lists.insert(name.to_owned(), initial_list.clone());
                self.with_appended(name, &initial_list)
            }
            None => value,
        };
        let Some(previous) = self.values.get(name) else {
            self.has_changed = true;
            self.values.insert(name.to_owned(), value);
            return None;
        };
        let merged = previous.clone().or(value.clone());
        if merged == *previous {
            return (value != *previous).then(|| (previous.clone(), value));
        }
        self.has_changed = true;
        let merged = if self.widens_to_unknown { Value::Unknown } else { merged };
        self.values.insert(name.to_owned(), merged).map(|previous| (previous, value))
    }

    /// Appends elements to a list. The list without them stays possible, because the call may be conditional.
    pub(super) fn append(&mut self, name: &str, position: usize, elements: Vec<Value>, order: StatementOrder) {
        let Some(initial_list) = self.initial_lists.get(name).or_else(|| self.values.get(name)).cloned() else {
            return;
        };
        let calls = self.appended.entry(name.to_owned()).or_default();
        let is_new = calls.get(&position) != Some(&elements);
        let is_ambiguous = is_new && calls.insert(position, elements).is_some();
        let is_ambiguous = is_ambiguous || (order == StatementOrder::Functions && calls.len() > 1);
        self.initial_lists.insert(name.to_owned(), if is_ambiguous { Value::Unknown } else { initial_list.clone() });
        if is_new {
            let value = if is_ambiguous { Value::Unknown } else { self.with_appended(name, &initial_list) };
            self.has_changed = true;
            self.values.insert(name.to_owned(), value);
        }
    }

    /// Returns one list for each subset of the calls that append to it.
    fn with_appended(&self, name: &str, initial_list: &Value) -> Value {
        let mut lists: Vec<Vec<Value>> = initial_list.lists().into_iter().map(Value::into_elements).collect();
        for elements in self.appended.get(name).into_iter().flat_map(BTreeMap::values) {
            if lists.len() > MAX_LISTS {
                return Value::Unknown;
            }
            lists = lists.into_iter().flat_map(|list| [list.clone(), [list, elements.clone()].concat()]).collect();
        }
        lists.into_iter().map(Value::List).reduce(Value::or).unwrap_or(Value::Unknown)
    }
}
