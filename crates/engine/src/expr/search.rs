//! Regular expressions, with limits on everything that they can cost.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use fancy_regex::{Regex, RegexBuilder};

const BACKTRACK_LIMIT: usize = 10_000;
const SIZE_LIMIT: usize = 1 << 20;
const PATTERN_LENGTH_LIMIT: usize = 4096;
const CACHED: usize = 128;

/// Compiling costs a thousand times what searching a line costs, and rules repeat themselves.
static CACHE: Mutex<BTreeMap<String, Arc<Regex>>> = Mutex::new(BTreeMap::new());

pub(super) fn compile(pattern: &str) -> Result<Arc<Regex>, String> {
    if pattern.len() > PATTERN_LENGTH_LIMIT {
        return Err(format!("a regular expression is at most {PATTERN_LENGTH_LIMIT} bytes long"));
    }
    if let Some(regex) = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        return Ok(Arc::clone(regex));
    }
    let regex = RegexBuilder::new(pattern)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(SIZE_LIMIT)
        .delegate_dfa_size_limit(SIZE_LIMIT)
        .build()
        .map_err(|error| error.to_string())?;
    let regex = Arc::new(regex);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if cache.len() >= CACHED {
        cache.clear();
    }
    cache.insert(pattern.to_owned(), Arc::clone(&regex));
    Ok(regex)
}

/// Whether the pattern is found anywhere in the text.
pub(super) fn found(regex: &Regex, text: &str) -> Result<bool, String> {
    regex.is_match(text).map_err(|error| error.to_string())
}
