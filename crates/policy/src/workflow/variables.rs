//! Reads the variables of a workflow or loop.

use std::collections::BTreeMap;

use engine::rules::Tier;

use super::WorkflowContext;
use crate::text::diagnostic::DiagnosticKind;
use crate::text::fields::Fields;
use crate::text::yaml::Yaml;
use crate::values::user_variable::conflict_with_user;

/// Reads `variables`: names and initial values as JSON.
pub fn read(fields: &mut Fields, tier: Tier, context: &WorkflowContext) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    let Some(node) = fields.take("variables") else { return variables };
    let Yaml::Map(entries) = node.value else {
        fields.refuse(
            DiagnosticKind::InvalidValue,
            "`variables` must be a mapping of names to initial values",
            node.span,
        );
        return variables;
    };
    for (key, value) in entries {
        if let Err(why) = engine::expr::check_variable_name(&key.text) {
            fields.refuse(DiagnosticKind::InvalidValue, why, key.span);
        } else if let Some(problem) = conflict_with_user(&key.text, tier, &context.loaded.context.users_variables) {
            fields.problems.push(problem.diagnostic_at(fields.source(), key.span));
        } else {
            variables.insert(key.text, value.to_json().to_string());
        }
    }
    variables
}

/// The initial value of a variable that the workflow or the configuration declares.
pub fn initial_value(
    name: &str,
    declared: &BTreeMap<String, String>,
    context: &WorkflowContext,
) -> Option<serde_json::Value> {
    let declared = declared.get(name).and_then(|json| serde_json::from_str(json).ok());
    declared.or_else(|| context.loaded.config.initial_value(name))
}
