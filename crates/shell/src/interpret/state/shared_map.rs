//! Maps by name that are shared until they are changed.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// By name. Shared until one of its holders changes it, because there is a state for each way that a script can go.
pub(crate) type Names<T> = Rc<BTreeMap<Arc<str>, T>>;

/// Without a copy where there is nothing to remove.
pub(super) fn remove<T: Clone>(names: &mut Names<T>, name: &str) {
    if names.contains_key(name) {
        Rc::make_mut(names).remove(name);
    }
}

/// Adds what only the others have, without a copy where that is nothing.
pub(super) fn add_missing<T: Clone>(names: &mut Names<T>, others: &Names<T>) {
    if Rc::ptr_eq(names, others) {
        return;
    }
    let missing: Vec<_> = others.iter().filter(|(name, _)| !names.contains_key(*name)).collect();
    if !missing.is_empty() {
        Rc::make_mut(names).extend(missing.into_iter().map(|(name, value)| (Arc::clone(name), value.clone())));
    }
}
