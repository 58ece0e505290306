//! The regular expressions of `matches` and `command_ran`, kept between evaluations: rules repeat themselves.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::bounded_regex::{LazyRegex, RegexHints};

const KEPT: usize = 128;

static SEARCHES: Mutex<BTreeMap<String, Arc<LazyRegex<'static>>>> = Mutex::new(BTreeMap::new());

pub(super) fn cached_regex(pattern: &str) -> Arc<LazyRegex<'static>> {
    let mut searches = SEARCHES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(search) = searches.get(pattern) {
        return Arc::clone(search);
    }
    let search = Arc::new(LazyRegex::new(pattern.to_owned(), Cow::Owned(RegexHints::of(pattern))));
    if searches.len() >= KEPT {
        searches.clear();
    }
    searches.insert(pattern.to_owned(), Arc::clone(&search));
    search
}
