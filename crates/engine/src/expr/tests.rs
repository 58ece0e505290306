mod corpus;
mod hostile;
mod messages;
mod situation;
mod template;

use serde_json::{Map, Value};

use super::{Evaluation, ExprError, evaluate_beside};

/// What an expression gives with these names alone.
fn evaluate_with(source: &str, with: &Map<String, Value>) -> Result<Evaluation, ExprError> {
    evaluate_beside(source, with, None, None)
}
