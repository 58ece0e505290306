//! Caches the compiled regexes of `matches`, `command_ran` and `command_succeeded` between evaluations.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::bounded_regex::{LazyRegex, RegexHints};

const MAX_CACHED: usize = 128;

static REGEXES: Mutex<BTreeMap<String, Arc<LazyRegex<'static>>>> = Mutex::new(BTreeMap::new());

pub(super) fn cached_regex(pattern: &str) -> Arc<LazyRegex<'static>> {
    let mut regexes = REGEXES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = regexes.get(pattern) {
        return Arc::clone(regex);
    }
    let regex = Arc::new(LazyRegex::new(pattern.to_owned(), Cow::Owned(RegexHints::of(pattern))));
    if regexes.len() >= MAX_CACHED {
        regexes.clear();
    }
    regexes.insert(pattern.to_owned(), Arc::clone(&regex));
    regex
}
