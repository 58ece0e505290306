//! Copy-on-write maps, keyed by name.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// A map that several states share until one of the states changes the map. There is a state for every control-flow
/// path, and most maps are equal in all states.
pub(crate) type SharedMap<T> = Rc<BTreeMap<Arc<str>, T>>;

/// Removes an entry. Does not copy the map if there is no such entry.
pub(super) fn remove<T: Clone>(names: &mut SharedMap<T>, name: &str) {
    if names.contains_key(name) {
        Rc::make_mut(names).remove(name);
    }
}

/// Adds the entries that only the other map has. Does not copy the map if there are no such entries.
pub(super) fn add_missing<T: Clone>(names: &mut SharedMap<T>, others: &SharedMap<T>) {
    if Rc::ptr_eq(names, others) {
        return;
    }
    let missing: Vec<_> = others.iter().filter(|(name, _)| !names.contains_key(*name)).collect();
    if !missing.is_empty() {
        Rc::make_mut(names).extend(missing.into_iter().map(|(name, value)| (Arc::clone(name), value.clone())));
    }
}
