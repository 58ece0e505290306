//! Acknowledged rules: they no longer warn or hold in that session, until their text changes.
//!
//! They are stored as session variables with reserved names, which are read before every judgement anyway.

use serde_json::{Map, Value, json};
use store::{CountedOutcome, PhaseName, SessionState, StateChanges};

use crate::rule_outcomes;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledgement {
    pub rule: String,
    /// The digest of the rule's text.
    pub digest: String,
    pub reason: String,
    pub by: AcknowledgedBy,
    /// Milliseconds since 1970.
    pub time: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcknowledgedBy {
    Agent,
    Person,
}

impl AcknowledgedBy {
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
        }
    }
}

impl Acknowledgement {
    /// The changes to the session's state. `phase` is the current one, if a workflow is active.
    pub fn changes(&self, phase: Option<PhaseName>) -> StateChanges {
        let rule_outcomes =
            rule_outcomes::for_rules([self.rule.as_str()].into_iter(), CountedOutcome::Acknowledged, phase).collect();
        let mut changes = StateChanges { rule_outcomes, ..StateChanges::default() };
        let value = json!({ "digest": self.digest, "reason": self.reason, "by": self.by.name(), "time": self.time });
        changes.set(variable(&self.rule), value);
        changes
    }

    /// All acknowledgements of the session.
    pub fn of_session(state: &SessionState) -> Vec<Self> {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let stored = state.variables.iter().filter_map(|(name, value)| {
            let rule = name.strip_prefix(VARIABLE_PREFIX)?.to_owned();
            let by = if text(value, "by") == "agent" { AcknowledgedBy::Agent } else { AcknowledgedBy::Person };
            let time = value.get("time").and_then(Value::as_i64).unwrap_or_default();
            Some(Self { rule, digest: text(value, "digest"), reason: text(value, "reason"), by, time })
        });
        stored.collect()
    }
}

pub(crate) fn is_acknowledged(variables: &Map<String, Value>, rule: &str, digest: &str) -> bool {
    let stored = variables.get(&variable(rule)).and_then(|stored| stored.get("digest"));
    stored.and_then(Value::as_str) == Some(digest)
}

const VARIABLE_PREFIX: &str = "_ack:";

fn variable(rule: &str) -> String {
    format!("{VARIABLE_PREFIX}{rule}")
}
