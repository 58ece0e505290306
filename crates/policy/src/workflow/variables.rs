//! A workflow's variables, and whose they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use engine::rules::Tier;

use super::Around;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::text::yaml::Yaml;

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
        } else if let Some(problem) = users_own(&key.text, tier, &around.loaded.ground.users_variables) {
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

/// Why a project leaves a variable alone: the user's own rules may depend on it.
pub struct UsersOwn(String);

pub fn users_own(name: &str, tier: Tier, users_variables: &BTreeSet<String>) -> Option<UsersOwn> {
    let is_users = tier == Tier::Project && users_variables.contains(name);
    is_users.then(|| UsersOwn(format!("`{name}` is a variable of the user's own policy")))
}

impl UsersOwn {
    pub fn at(self, source: &Source, span: Range<usize>) -> Diagnostic {
        Diagnostic::error(ErrorKind::Overruled, self.0, source, Some(span)).help("use a variable of another name")
    }
}
