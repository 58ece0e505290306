//! Changes that an event or a note makes to a session's state.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{CountedAttempt, RecordedRuleOutcome};

/// The prefix of a workflow's variables among the changes in a journal entry.
pub const WORKFLOW_VARIABLE_PREFIX: &str = "workflow.variables.";

/// Changes to variables, counters, attempts and rule counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateChanges {
    /// `None` unsets a variable.
    pub session_variables: BTreeMap<String, Option<Value>>,
    pub counters: BTreeMap<String, CounterChange>,
    /// Attempts that pace rules count from now on.
    pub attempts: Vec<CountedAttempt>,
    /// Variables of the active workflow; `None` unsets one.
    pub workflow_variables: BTreeMap<String, Option<Value>>,
    /// Outcomes to add to the rules' counts.
    pub rule_outcomes: Vec<RecordedRuleOutcome>,
}

impl StateChanges {
    pub fn set(&mut self, variable: impl Into<String>, value: impl Into<Value>) {
        self.session_variables.insert(variable.into(), Some(value.into()));
    }

    pub fn unset(&mut self, variable: impl Into<String>) {
        self.session_variables.insert(variable.into(), None);
    }

    /// True if variables or counters of the session change.
    pub fn has_session_changes(&self) -> bool {
        !self.session_variables.is_empty() || !self.counters.is_empty()
    }

    /// Returns the changed variables for the journal entry, null if unset. Internal variables of the workflow (`_…`)
    /// are left out: they change with every call.
    pub(crate) fn journal_variables(&self) -> Map<String, Value> {
        let workflow = self.workflow_variables.iter().filter(|(name, _)| !name.starts_with('_'));
        let workflow = workflow.map(|(name, value)| (format!("{WORKFLOW_VARIABLE_PREFIX}{name}"), value));
        let session = self.session_variables.iter().map(|(name, value)| (name.clone(), value));
        session.chain(workflow).map(|(name, value)| (name, value.clone().unwrap_or(Value::Null))).collect()
    }

    pub fn change_counter(&mut self, counter: impl Into<String>, change: CounterChange) {
        self.counters.insert(counter.into(), change);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterChange {
    Add(i64),
    Set(i64),
}
