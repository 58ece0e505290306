//! Shows a rule in force as a line or as JSON.

use engine::rules::Rule;
use serde_json::{Value, json};

use crate::output::Output;

pub fn show_rule(rule: &Rule, output: &Output) {
    output.line(format!("  {:<28} {:<6} {}", rule.id, rule.action.name(), rule.tier.name()));
}

pub fn rule_json(rule: &Rule) -> Value {
    json!({ "rule": rule.id, "tier": rule.tier.name(), "action": rule.action.name(), "source": rule.source })
}
