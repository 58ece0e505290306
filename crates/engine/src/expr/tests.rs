mod corpus;
mod hostile;
mod messages;
mod situation;
mod template;

use serde_json::{Map, Value};

use super::{Evaluation, ExprError, evaluate_with_names};

/// Evaluates with these names and nothing else.
fn evaluate_with(source: &str, with: &Map<String, Value>) -> Result<Evaluation, ExprError> {
    evaluate_with_names(source, with, None, None)
}
