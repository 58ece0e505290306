//! External behaviors: the program, its input, and the variable changes that its answer causes. Another crate runs the
//! program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{VariableChanges, check_size};
use crate::behavior_names::{CONDITION_PREFIX, CONDITIONS};
use crate::event::Event;
use crate::expr::check_variable_name;
use crate::facts::{Facts, Missing};

/// The maximum number of variables in a session. There is a limit because a program can create variables at every
/// event.
const VARIABLES_LIMIT: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalBehavior {
    /// The program and its arguments.
    pub exec: Vec<String>,
    /// The declared conditions, each with the number of arguments of the function that reads the condition.
    pub conditions: BTreeMap<String, usize>,
}

/// A program's answer.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BehaviorAnswer {
    #[serde(default)]
    pub set: Map<String, Value>,
    #[serde(default)]
    pub conditions: Map<String, Value>,
}

impl ExternalBehavior {
    /// The name of the function that reads a condition in expressions.
    pub fn function(observer: &str, condition: &str) -> String {
        format!("{CONDITION_PREFIX}{observer}_{condition}")
    }

    /// The input that the program gets: the event and the variables of the session, without internal variables.
    pub fn input(event: &Event, facts: &dyn Facts) -> Result<Value, Missing> {
        let mut variables = Map::new();
        for name in facts.variable_names()?.into_iter().filter(|name| !name.starts_with('_')) {
            if let Some(value) = facts.variable(&name)? {
                variables.insert(name, value);
            }
        }
        Ok(json!({ "event": event, "variables": variables }))
    }

    /// Returns the variable changes of an answer. An invalid answer is an error, and changes nothing.
    pub fn changes(
        &self,
        observer: &str,
        answer: BehaviorAnswer,
        facts: &dyn Facts,
    ) -> Result<VariableChanges, String> {
        let mut changes = VariableChanges::new();
        let mut names = facts.variable_names().map_err(|missing| missing.to_string())?;
        for (name, value) in answer.set {
            check_variable_name(&name)?;
            check_size(&name, &value)?;
            if !names.contains(&name) {
                names.push(name.clone());
            }
            changes.insert(name, (!value.is_null()).then_some(value));
        }
        if names.len() > VARIABLES_LIMIT {
            return Err(format!("the session would have more than {VARIABLES_LIMIT} variables"));
        }
        if answer.conditions.is_empty() {
            return Ok(changes);
        }
        let mut conditions = match facts.variable(CONDITIONS).map_err(|missing| missing.to_string())? {
            Some(Value::Object(conditions)) => conditions,
            _ => Map::new(),
        };
        for (condition, value) in answer.conditions {
            if !self.conditions.contains_key(&condition) {
                return Err(format!("`{condition}` is not declared under `conditions`"));
            }
            check_size(&condition, &value)?;
            conditions.insert(Self::function(observer, &condition), value);
        }
        changes.insert(CONDITIONS.to_owned(), Some(Value::Object(conditions)));
        Ok(changes)
    }
}
