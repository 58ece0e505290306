//! The claims of a move.

use engine::suggest;
use engine::workflow::Workflow;
use serde_json::{Map, Value};

use super::WorkflowError;

/// The claims of a move: statements of the agent about work that is done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims(Map<String, Value>);

impl Claims {
    /// Parses the arguments of `linchpin next`: either names, or one JSON object. Without arguments, the claim is that
    /// the node is complete.
    pub fn parse(arguments: &[String], node: &str, workflow: &Workflow) -> Result<Self, WorkflowError> {
        let claims = match arguments {
            [] => Map::from_iter([(Workflow::completion_claim(node), Value::Bool(true))]),
            [json] if json.trim_start().starts_with('{') => match serde_json::from_str(json) {
                Ok(Value::Object(claims)) => claims,
                Ok(_) => return Err(WorkflowError::BadClaims("it is not an object".to_owned())),
                Err(error) => return Err(WorkflowError::BadClaims(error.to_string())),
            },
            names => names.iter().map(|name| (name.clone(), Value::Bool(true))).collect(),
        };
        let known: Vec<String> = workflow.all_claims().collect();
        for (claim, value) in &claims {
            if !known.contains(claim) {
                let close = suggest::closest(claim, known.iter().map(String::as_str)).map(str::to_owned);
                return Err(WorkflowError::UnknownClaim { claim: claim.clone(), close, known });
            }
            if !value.is_boolean() {
                return Err(WorkflowError::BadClaims(format!("`{claim}` is `true` or `false`, not {value}")));
            }
        }
        Ok(Self(claims))
    }

    /// One claim that is true.
    pub fn single(claim: &str) -> Self {
        Self(Map::from_iter([(claim.to_owned(), Value::Bool(true))]))
    }

    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The names of claims that are true, for messages.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().filter(|(_, value)| **value == Value::Bool(true)).map(|(name, _)| name.as_str()).collect()
    }
}
