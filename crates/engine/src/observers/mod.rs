//! Observers: they turn events into variables, before the rules of the same event are judged.
//!
//! An [`Observer`] is plain data, as a rule is: it was read and checked elsewhere and lies compiled in a cache. What is
//! here says what an event means to one observer, as [`VariableChanges`] to variables; who calls lays those over the facts before
//! it asks the next observer, and keeps them. Nothing here runs a process: a behavior from outside is only described.
//!
//! What an event carries is data. It is compared and stored, never compiled.

mod builtin_behavior;
mod call_result;
mod declared;
mod detect_plan_mode;
mod external_behavior;
mod json_in_prose;
mod mcp_call_tracking;
mod prompt_text;
mod seen_tasks;
mod task_claim_tracking;
mod template;

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
pub use task_claim_tracking::{TaskTools, claim_changes};
pub use template::{Template, TemplateError};

use crate::expr::{EvaluationError, Scope};
use crate::facts::{Missing, Stored};
use crate::rules::Tier;
use crate::situation::Situation;

/// What an event does to variables: a new value, or none to unset.
pub type VariableChanges = BTreeMap<String, Option<Value>>;

/// The largest value that an observer stores, as JSON. Every hook of the session reads all of them.
pub const VALUE_LIMIT: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observer {
    pub name: String,
    pub tier: Tier,
    pub kind: ObserverKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObserverKind {
    /// `on`, `match` and `set`.
    Declared(DeclaredObserver),
    /// One that is in the box.
    Behavior(BuiltinBehavior),
    /// A program of somebody else's.
    External(ExternalBehavior),
}

impl Observer {
    /// Whether it starts a process.
    pub fn is_external(&self) -> bool {
        matches!(self.kind, ObserverKind::External(_))
    }

    /// What a person has to accept before a repository's observer starts a process; none where it starts none.
    pub fn text_to_trust(&self) -> Option<String> {
        match &self.kind {
            ObserverKind::External(external) => {
                Some(format!("observer {}: runs {}", self.name, Value::from(external.exec.clone())))
            }
            ObserverKind::Declared(_) | ObserverKind::Behavior(_) => None,
        }
    }

    /// The variables that it sets, as far as that is known before it runs.
    pub fn variables(&self) -> Vec<&str> {
        match &self.kind {
            ObserverKind::Declared(declared) => declared.set.iter().map(|(name, _)| name.as_str()).collect(),
            ObserverKind::Behavior(behavior) => behavior.variables().to_vec(),
            ObserverKind::External(_) => Vec::new(),
        }
    }

    /// Makes known to expressions what this observer gives them.
    pub fn declare_in(&self, scope: &mut Scope) {
        for name in self.variables() {
            scope.declare(name);
        }
        match &self.kind {
            ObserverKind::Declared(_) => {}
            ObserverKind::Behavior(behavior) => scope.declare_behavior(behavior.name()),
            ObserverKind::External(external) => {
                for (condition, arity) in &external.conditions {
                    scope.declare_condition(ExternalBehavior::function(&self.name, condition), *arity);
                }
            }
        }
    }
}

/// What stands under a `set`: all of it, or nothing where a value cannot be told.
pub(crate) fn values(set: &[(String, Template)], situation: &Arc<Situation>) -> Result<VariableChanges, String> {
    let mut changes = VariableChanges::new();
    for (name, template) in set {
        let value = template.value(situation).map_err(|error| match error {
            EvaluationError::Missing(Missing::Failed(why)) => why,
            EvaluationError::Missing(Missing::Unreadable(Stored::Session | Stored::Journal)) => {
                format!("what `{name}` depends on is in the journal, which cannot be read")
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

/// Whether a value is small enough to be kept.
fn check_size(name: &str, value: &Value) -> Result<(), String> {
    let size = value.to_string().len();
    if size <= VALUE_LIMIT {
        return Ok(());
    }
    Err(format!("`{name}` would hold {size} bytes, more than the {VALUE_LIMIT} that a variable may"))
}
