//! What an event or a note changes of the state.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{Counted, RuleDeed};

/// Before the name of a workflow's variable, among the changes that the journal keeps.
pub const WORKFLOW_VARIABLE: &str = "workflow.variables.";

/// What an event does to its session's variables, to its counters, and to what is counted in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateChanges {
    /// A new value, or none to unset.
    pub variables: BTreeMap<String, Option<Value>>,
    pub counters: BTreeMap<String, CounterChange>,
    /// What pace rules count from now on.
    pub counted: Vec<Counted>,
    /// Variables of the workflow that is active; a new value, or none to unset.
    pub workflow: BTreeMap<String, Option<Value>>,
    /// What rules did, or what was done about them.
    pub deeds: Vec<RuleDeed>,
}

impl StateChanges {
    pub fn set(&mut self, variable: impl Into<String>, value: impl Into<Value>) {
        self.variables.insert(variable.into(), Some(value.into()));
    }

    pub fn unset(&mut self, variable: impl Into<String>) {
        self.variables.insert(variable.into(), None);
    }

    /// Whether anything of it is a session's own.
    pub fn is_about_a_session(&self) -> bool {
        !self.variables.is_empty() || !self.counters.is_empty()
    }

    /// The variables as the journal keeps them: what is unset is null. Of the workflow's, those that it declares: Linchpin's
    /// own change with every call.
    pub(crate) fn values(&self) -> Map<String, Value> {
        let of_workflow = self.workflow.iter().filter(|(name, _)| !name.starts_with('_'));
        let of_workflow = of_workflow.map(|(name, value)| (format!("{WORKFLOW_VARIABLE}{name}"), value));
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
