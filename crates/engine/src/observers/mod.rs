//! Observers set variables when an event arrives, before rules judge that event.
//!
//! An [`Observer`] is plain data. Another crate reads and checks observers, and caches them in compiled form. This
//! module computes the [`VariableChanges`] of an event. The caller applies the changes to the facts before calling the
//! next observer, and stores the changes. This module starts no processes: it only describes external behaviors.
//!
//! The content of events is data: observers compare and store the content, but never evaluate it as an expression.

mod builtin_behavior;
mod call_result;
mod declared;
mod detect_plan_mode;
mod external_behavior;
mod json_in_prose;
mod mcp_call_tracking;
mod prompt_text;
mod seen_tasks;
mod set_value;
mod task_claim_tracking;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use builtin_behavior::BuiltinBehavior;
pub use declared::{DeclaredObserver, ObserverMatch};
pub use detect_plan_mode::COLLABORATION_MODE;
pub use external_behavior::{BehaviorAnswer, ExternalBehavior};
pub use set_value::{SetValue, SetValueError};
pub use task_claim_tracking::{TaskTools, claim_changes};

use crate::expr::{EvaluationError, Scope};
use crate::facts::{FactStore, Missing};
use crate::rules::Tier;
use crate::situation::Situation;

/// Variables with their new values; `None` unsets a variable.
pub type VariableChanges = BTreeMap<String, Option<Value>>;

/// The maximum size of a variable's value in bytes of JSON. The limit is low, because every hook of the session reads
/// all variables.
pub const VALUE_LIMIT: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observer {
    pub name: String,
    pub tier: Tier,
    pub kind: ObserverKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObserverKind {
    /// An observer with `on`, `match` and `set`.
    Declared(DeclaredObserver),
    // The serialized name must not change, because this name is part of the text of workflows that people have trusted.
    #[serde(rename = "Behavior")]
    Builtin(BuiltinBehavior),
    /// An observer that is a program outside of Linchpin.
    External(ExternalBehavior),
}

impl Observer {
    /// True if the observer starts a process.
    pub fn is_external(&self) -> bool {
        matches!(self.kind, ObserverKind::External(_))
    }

    /// The text that a person must trust before a repository's observer may start a process; `None` if the observer
    /// starts no process.
    pub fn text_to_trust(&self) -> Option<String> {
        match &self.kind {
            ObserverKind::External(external) => {
                Some(format!("observer `{}`: runs {}", self.name, Value::from(external.exec.clone())))
            }
            ObserverKind::Declared(_) | ObserverKind::Builtin(_) => None,
        }
    }

    /// The variables that the observer sets. Empty for external behaviors, whose variables are not known in advance.
    pub fn variables(&self) -> Vec<&str> {
        match &self.kind {
            ObserverKind::Declared(declared) => declared.set.iter().map(|(name, _)| name.as_str()).collect(),
            ObserverKind::Builtin(behavior) => behavior.variables().to_vec(),
            ObserverKind::External(_) => Vec::new(),
        }
    }

    /// Declares the names that this observer provides to expressions.
    pub fn declare_in(&self, scope: &mut Scope) {
        for name in self.variables() {
            scope.declare(name);
        }
        match &self.kind {
            ObserverKind::Declared(_) => {}
            ObserverKind::Builtin(behavior) => scope.declare_behavior(behavior.name()),
            ObserverKind::External(external) => {
                for (condition, arity) in &external.conditions {
                    scope.declare_condition(ExternalBehavior::function(&self.name, condition), *arity);
                }
            }
        }
    }
}

/// Evaluates the entries of a `set`. If an entry fails, there are no changes.
pub(crate) fn evaluate_set(set: &[(String, SetValue)], situation: &Arc<Situation>) -> Result<VariableChanges, String> {
    let mut changes = VariableChanges::new();
    for (name, set_value) in set {
        let value = set_value.evaluate(situation).map_err(|error| match error {
            EvaluationError::Missing(Missing::Failed(why)) => why,
            EvaluationError::Missing(Missing::Unavailable(FactStore::Session | FactStore::Journal)) => {
                format!("`{name}` depends on the journal, which cannot be read")
            }
            error => format!("`{name}` cannot be evaluated: {error}"),
        })?;
        if let Some(value) = &value {
            check_size(name, value)?;
        }
        changes.insert(name.clone(), value);
    }
    Ok(changes)
}

/// Checks that a value is within the size limit.
fn check_size(name: &str, value: &Value) -> Result<(), String> {
    let size = value.to_string().len();
    if size <= VALUE_LIMIT {
        return Ok(());
    }
    Err(format!("the value of `{name}` has {size} bytes, over the limit of {VALUE_LIMIT} for a variable"))
}
