//! Changes of variables that observers and actions made at the current event or move. A changed value overrides the
//! stored one.

use std::sync::Mutex;

use engine::observers::VariableChanges;
use serde_json::Value;

#[derive(Default)]
pub struct VariableOverlay {
    changes: Mutex<VariableChanges>,
}

impl VariableOverlay {
    pub fn add(&self, changes: &VariableChanges) {
        if let Ok(mut all) = self.changes.lock() {
            all.extend(changes.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
    }

    /// The changed value of a variable (`None` if the variable was unset). If the variable was not changed, the result
    /// of `stored`.
    pub fn get_or_else<E>(
        &self,
        name: &str,
        stored: impl FnOnce() -> Result<Option<Value>, E>,
    ) -> Result<Option<Value>, E> {
        let change = self.changes.lock().ok().and_then(|changes| changes.get(name).cloned());
        change.map_or_else(stored, Ok)
    }

    pub fn changes(&self) -> VariableChanges {
        self.changes.lock().map(|changes| changes.clone()).unwrap_or_default()
    }
}
