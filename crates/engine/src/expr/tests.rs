mod corpus;
mod hostile;
mod messages;
mod situation;
mod template;

use serde_json::{Map, Value};

use super::{Evaluation, ExprError, evaluate_with_names};

/// Evaluates the expression with these names and without a situation.
fn evaluate_with(source: &str, names: &Map<String, Value>) -> Result<Evaluation, ExprError> {
    evaluate_with_names(source, names, None, None)
}
