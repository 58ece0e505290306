//! The names that a program has bound so far, with their possible values.

use std::collections::BTreeMap;

use super::statement_order::StatementOrder;
use super::value::Value;

/// If a name can stand for more lists than this, and the program has a further call that appends to the list, the value
/// of the name becomes unknown.
const MAX_LISTS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Bindings {
    /// The value of each name: one that stands for all values that the program assigns to the name.
    values: BTreeMap<String, Value>,
    /// Modules that were imported with `from module import *`.
    pub(super) star_imports: Vec<String>,
    /// True if the value of any name has changed in the current round of evaluation.
    pub(super) has_changed: bool,
    /// The elements that calls append to lists, by the name of the list and the position of the call among the tokens.
    appended: BTreeMap<String, BTreeMap<usize, Vec<Value>>>,
    /// The values of the lists in `appended`, without the appended elements.
    initial_lists: BTreeMap<String, Value>,
    /// True in late rounds of evaluation, in which a name whose value still changes becomes unknown.
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

    /// Records a call that appends elements to a list. The list without these elements stays possible, because the call
    /// can be conditional.
    pub(super) fn append(&mut self, name: &str, position: usize, elements: Vec<Value>, order: StatementOrder) {
        let Some(initial_list) = self.initial_lists.get(name).or_else(|| self.values.get(name)).cloned() else {
            return;
        };
        let calls = self.appended.entry(name.to_owned()).or_default();
        let is_new = calls.get(&position) != Some(&elements);
        // True if the same call appended other elements in an earlier round.
        let has_changed = is_new && calls.insert(position, elements).is_some();
        // If the program has functions, the order in which several calls run is unknown.
        let is_order_unknown = order == StatementOrder::Functions && calls.len() > 1;
        let is_unknown = has_changed || is_order_unknown;
        self.initial_lists.insert(name.to_owned(), if is_unknown { Value::Unknown } else { initial_list.clone() });
        if is_new {
            let value = if is_unknown { Value::Unknown } else { self.with_appended(name, &initial_list) };
            self.has_changed = true;
            self.values.insert(name.to_owned(), value);
        }
    }

    /// Returns the possible lists after the calls that append to the list: one for each subset of these calls, because
    /// each of them may be conditional.
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
