//! Changes that an event or a note makes to a session's state.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{CountedAttempt, RecordedRuleOutcome};

/// The prefix of a workflow's variables among the changes in a journal entry.
pub const WORKFLOW_VARIABLE_PREFIX: &str = "workflow.variables.";

/// Changes to variables, counters, attempts and rule counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateChanges {
    /// Variables of the session; `None` unsets one.
    pub variables: BTreeMap<String, Option<Value>>,
    pub counters: BTreeMap<String, CounterChange>,
    /// Attempts that pace rules count from now on.
    pub attempts: Vec<CountedAttempt>,
    /// Variables of the active workflow; `None` unsets one.
    pub workflow: BTreeMap<String, Option<Value>>,
    /// Outcomes to add to the rules' counts.
    pub rule_outcomes: Vec<RecordedRuleOutcome>,
}

impl StateChanges {
    pub fn set(&mut self, variable: impl Into<String>, value: impl Into<Value>) {
        self.variables.insert(variable.into(), Some(value.into()));
    }

    pub fn unset(&mut self, variable: impl Into<String>) {
        self.variables.insert(variable.into(), None);
    }

    /// True if variables or counters of the session change.
    pub fn changes_session(&self) -> bool {
        !self.variables.is_empty() || !self.counters.is_empty()
    }

    /// Returns the variables for the journal entry, null if unset. Internal variables of the workflow (`_…`) are left
    /// out: they change with every call.
    pub(crate) fn values(&self) -> Map<String, Value> {
        let of_workflow = self.workflow.iter().filter(|(name, _)| !name.starts_with('_'));
        let of_workflow = of_workflow.map(|(name, value)| (format!("{WORKFLOW_VARIABLE_PREFIX}{name}"), value));
        let of_session = self.variables.iter().map(|(name, value)| (name.clone(), value));
        let all = of_session.chain(of_workflow);
        all.map(|(name, value)| (name, value.clone().unwrap_or(Value::Null))).collect()
    }

    pub fn count(&mut self, counter: impl Into<String>, change: CounterChange) {
        self.counters.insert(counter.into(), change);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterChange {
    Add(i64),
    Set(i64),
}
