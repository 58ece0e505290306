//! Fields of an event as values of expressions, converted once a judgement.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use minijinja::Value;

/// By name. Rules read the same few fields, and one of them may be a large file.
#[derive(Default)]
pub(crate) struct ValueCache(Mutex<BTreeMap<String, Value>>);

impl ValueCache {
    /// What was converted before under this name, or else what is converted now.
    pub(crate) fn get_or_convert(&self, name: &str, convert: impl FnOnce() -> Option<Value>) -> Option<Value> {
        if let Some(value) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Some(value.clone());
        }
        // The lock is not held here: facts may take their time.
        let value = convert()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.clone());
        Some(value)
    }
}
