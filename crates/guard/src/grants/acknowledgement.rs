//! Acknowledgements. An acknowledged rule no longer warns or holds in the session, until the rule's text changes.
//!
//! Acknowledgements are stored as session variables with reserved names, because session variables are read before
//! every judgement anyway.

use serde_json::{Map, Value, json};
use store::{CountedOutcome, PhaseName, StateChanges, StoredState};

use crate::rule_outcomes;

/// An acknowledgement of a rule in a session.
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
    /// The changes of the session's state that store this acknowledgement and count it for the rule. `phase` is the
    /// current phase, if a workflow is active.
    pub fn changes(&self, phase: Option<PhaseName>) -> StateChanges {
        let rule_outcomes =
            rule_outcomes::for_rules([self.rule.as_str()].into_iter(), CountedOutcome::Acknowledged, phase).collect();
        let mut changes = StateChanges { rule_outcomes, ..StateChanges::default() };
        let value = json!({ "digest": self.digest, "reason": self.reason, "by": self.by.name(), "time": self.time });
        changes.set(variable(&self.rule), value);
        changes
    }

    /// All acknowledgements in a session.
    pub fn of_session(state: &StoredState) -> Vec<Self> {
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

/// True if the version of the rule with this digest is acknowledged.
pub(crate) fn is_acknowledged(variables: &Map<String, Value>, rule: &str, digest: &str) -> bool {
    let stored = variables.get(&variable(rule)).and_then(|stored| stored.get("digest"));
    stored.and_then(Value::as_str) == Some(digest)
}

/// Prefix of the session variables that store acknowledgements. The rule's id follows.
const VARIABLE_PREFIX: &str = "_ack:";

fn variable(rule: &str) -> String {
    format!("{VARIABLE_PREFIX}{rule}")
}
