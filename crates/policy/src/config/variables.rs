//! The variables that configurations declare.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeclaredVariables {
    /// By name, each as JSON text.
    first_values: BTreeMap<String, String>,
    /// The names that the user declared; none once the policy is loaded.
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

    /// What a farther tier declared stays: its rules may depend on it.
    pub fn declare(&mut self, name: String, first_value: &Value) {
        self.first_values.entry(name).or_insert_with(|| first_value.to_string());
    }
}
