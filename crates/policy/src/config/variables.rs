//! The variables that configurations declare.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeclaredVariables {
    /// Initial values by name, as JSON.
    initial_values: BTreeMap<String, String>,
    /// The variables that the user's configuration declares; empty once the policy is loaded.
    #[serde(skip)]
    pub declared_by_user: BTreeSet<String>,
}

impl DeclaredVariables {
    pub fn initial_value(&self, name: &str) -> Option<Value> {
        self.initial_values.get(name).and_then(|json| serde_json::from_str(json).ok())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.initial_values.keys().map(String::as_str)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.initial_values.contains_key(name)
    }

    /// Declares a variable, unless an earlier tier did: the rules of that tier may depend on the initial value.
    pub fn declare(&mut self, name: String, initial_value: &Value) {
        self.initial_values.entry(name).or_insert_with(|| initial_value.to_string());
    }
}
