//! Caches compiled regexes of `matches` and `command_ran` between evaluations.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::bounded_regex::{LazyRegex, RegexHints};

const MAX_CACHED: usize = 128;

static SEARCHES: Mutex<BTreeMap<String, Arc<LazyRegex<'static>>>> = Mutex::new(BTreeMap::new());

pub(super) fn cached_regex(pattern: &str) -> Arc<LazyRegex<'static>> {
    let mut searches = SEARCHES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(search) = searches.get(pattern) {
        return Arc::clone(search);
    }
    let search = Arc::new(LazyRegex::new(pattern.to_owned(), Cow::Owned(RegexHints::of(pattern))));
    if searches.len() >= MAX_CACHED {
        searches.clear();
    }
    searches.insert(pattern.to_owned(), Arc::clone(&search));
    search
}
