//! Variables that observers and actions set at this event; they lie over the stored ones.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::observers::Changes;
use serde_json::Value;

#[derive(Default)]
pub struct ObservedVariables {
    changes: Mutex<Changes>,
    is_observing: AtomicBool,
}

impl ObservedVariables {
    /// Whether observers are asking, and not rules.
    pub fn is_observing(&self) -> bool {
        self.is_observing.load(Ordering::Relaxed)
    }

    pub fn observing(&self, is_observing: bool) {
        self.is_observing.store(is_observing, Ordering::Relaxed);
    }

    pub fn overlay(&self, changes: &Changes) {
        if let Ok(mut observed) = self.changes.lock() {
            observed.extend(changes.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
    }

    /// `None`: not set at this event; `Some(None)`: unset at this event.
    pub fn get(&self, name: &str) -> Option<Option<Value>> {
        self.changes.lock().ok()?.get(name).cloned()
    }

    pub fn all(&self) -> Changes {
        self.changes.lock().map(|observed| observed.clone()).unwrap_or_default()
    }
}
