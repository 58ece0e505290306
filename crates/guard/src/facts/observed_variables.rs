//! Variables that observers and actions set at this event. They override the stored ones.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::observers::VariableChanges;
use serde_json::Value;

#[derive(Default)]
pub struct ObservedVariables {
    changes: Mutex<VariableChanges>,
    is_observing: AtomicBool,
}

impl ObservedVariables {
    /// True while observers ask for variables, false while rules do.
    pub fn is_observing(&self) -> bool {
        self.is_observing.load(Ordering::Relaxed)
    }

    pub fn set_observing(&self, is_observing: bool) {
        self.is_observing.store(is_observing, Ordering::Relaxed);
    }

    pub fn overlay(&self, changes: &VariableChanges) {
        if let Ok(mut all) = self.changes.lock() {
            all.extend(changes.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
    }

    /// The value set at this event (`None` if it was unset), else the result of `otherwise`.
    pub fn get_or_else<E>(
        &self,
        name: &str,
        otherwise: impl FnOnce() -> Result<Option<Value>, E>,
    ) -> Result<Option<Value>, E> {
        let change = self.changes.lock().ok().and_then(|changes| changes.get(name).cloned());
        change.map_or_else(otherwise, Ok)
    }

    pub fn changes(&self) -> VariableChanges {
        self.changes.lock().map(|changes| changes.clone()).unwrap_or_default()
    }
}
