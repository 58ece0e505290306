//! What the names of a text mean.

use std::collections::BTreeMap;

use super::value::Value;

#[derive(Debug, Default)]
pub(super) struct Names {
    /// Every value that a name is given, taken together.
    values: BTreeMap<String, Value>,
    /// Modules all of whose members are names.
    pub(super) opened: Vec<String>,
    pub(super) changed: bool,
    /// Whether a name whose values do not stop changing is given up.
    pub(super) settling: bool,
}

impl Names {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// What the name may mean from now on, and what it meant before where these are two.
    pub(super) fn bind(&mut self, name: &str, value: Value) -> Option<(Value, Value)> {
        let Some(known) = self.values.get(name) else {
            self.changed = true;
            self.values.insert(name.to_owned(), value);
            return None;
        };
        let both = known.clone().or(value.clone());
        if both == *known {
            return (value != *known).then(|| (known.clone(), value));
        }
        self.changed = true;
        let both = if self.settling { Value::Unknown } else { both };
        self.values.insert(name.to_owned(), both).map(|known| (known, value))
    }
}
