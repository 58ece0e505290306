//! Caches fields of an event as expression values. Rules read the same few fields, and the value of a field can be as
//! large as a file.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use minijinja::Value;

/// The cached values, by the name of the field.
#[derive(Default)]
pub(crate) struct ValueCache(Mutex<BTreeMap<String, Value>>);

impl ValueCache {
    /// Returns the cached value of a field. If no value is cached, computes the value with `convert`, and caches it.
    pub(crate) fn get_or_insert_with(&self, name: &str, convert: impl FnOnce() -> Option<Value>) -> Option<Value> {
        if let Some(value) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Some(value.clone());
        }
        // The lock is not held during the conversion, because reading facts can be slow.
        let value = convert()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.clone());
        Some(value)
    }
}
