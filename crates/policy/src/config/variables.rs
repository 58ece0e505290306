//! The variables that configurations declare.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeclaredVariables {
    /// Initial values by name, as JSON.
    first_values: BTreeMap<String, String>,
    /// The variables that the user's configuration declares; empty once the policy is loaded.
    #[serde(skip)]
    pub of_user: BTreeSet<String>,
}

impl DeclaredVariables {
    pub fn first_value(&self, name: &str) -> Option<Value> {
        self.first_values.get(name).and_then(|json| serde_json::from_str(json).ok())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.first_values.keys().map(String::as_str)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.first_values.contains_key(name)
    }

    /// Declares a variable, unless a farther tier did: its rules may depend on the initial value.
    pub fn declare(&mut self, name: String, first_value: &Value) {
        self.first_values.entry(name).or_insert_with(|| first_value.to_string());
    }
}
