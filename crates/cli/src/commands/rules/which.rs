//! `rules which NAME`: the rule that a name refers to, and the rules that it overrides.

use guard::Project;
use policy::{RuleDefinition, RuleStatus};
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::unknown_rule::undefined_rule;
use crate::exit_code::ExitCode;
use crate::problem::CommandOutcome;

pub fn run(name: &str, context: &Context) -> CommandOutcome {
    let loaded = Project::of_person(&context.environment).load(&context.environment);
    let found = loaded.definitions_named(name);
    let Some((selected, others)) = found.split_first() else { return Err(undefined_rule(name, &loaded)) };
    let status = loaded.rule_status(selected);
    if context.output.json {
        let shadows: Vec<Value> = others.iter().map(|definition| place(definition)).collect();
        context.output.value(&json!({
            "name": name,
            "tier": selected.rule.tier.name(),
            "source": selected.display_location(),
            "in_force": status.is_in_force(),
            "why": status.why(selected),
            "shadows": shadows,
        }));
        return Ok(ExitCode::Done);
    }
    let output = &context.output;
    output.line(format!("{} {} ({})", output.bold(name), selected.display_location(), selected.rule.tier.name()));
    let status_text = if status.is_in_force() { "in force" } else { "not in force" };
    output.line(format!("  {status_text}: {}", status.why(selected)));
    for definition in others {
        let (relation, why) = match loaded.rule_status(definition) {
            RuleStatus::Shadowed(_) => ("replaces", String::new()),
            status => ("not used:", format!(": {}", status.why(definition))),
        };
        output.line(format!("  {relation} {} ({}){why}", definition.display_location(), definition.rule.tier.name()));
    }
    Ok(ExitCode::Done)
}

fn place(definition: &RuleDefinition) -> Value {
    json!({ "tier": definition.rule.tier.name(), "source": definition.display_location() })
}
