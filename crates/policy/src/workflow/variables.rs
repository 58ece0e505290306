//! A workflow's variables, and whose they are.

use std::collections::BTreeMap;

use engine::rules::Tier;

use super::Around;
use crate::text::diagnostic::ErrorKind;
use crate::text::fields::Fields;
use crate::text::yaml::Yaml;
use crate::values::users_variable::users_own;

/// Names and first values, each as JSON text.
pub fn read(fields: &mut Fields, tier: Tier, around: &Around) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    let Some(node) = fields.take("variables") else { return variables };
    let Yaml::Map(entries) = node.value else {
        fields.refuse(ErrorKind::InvalidValue, "`variables` takes a mapping of names to first values", node.span);
        return variables;
    };
    for (key, value) in entries {
        if let Err(why) = engine::expr::check_variable_name(&key.text) {
            fields.refuse(ErrorKind::InvalidValue, why, key.span);
        } else if let Some(problem) = users_own(&key.text, tier, &around.loaded.context.users_variables) {
            fields.problems.push(problem.at(fields.source(), key.span));
        } else {
            variables.insert(key.text, value.to_json().to_string());
        }
    }
    variables
}

/// The first value of a variable, as the workflow or else the configuration declares it.
pub fn first_value(name: &str, own: &BTreeMap<String, String>, around: &Around) -> Option<serde_json::Value> {
    let own = own.get(name).and_then(|json| serde_json::from_str(json).ok());
    own.or_else(|| around.loaded.config.variable(name))
}
