//! `rules list`: every rule with its status and the reason for it.

use guard::Project;
use policy::{LoadedPolicy, RuleDefinition, RuleStatus};
use serde_json::{Value, json};

use crate::commands::Context;
use crate::exit_code::ExitCode;
use crate::plural::counted;
use crate::problem::CommandOutcome;

#[expect(clippy::unnecessary_wraps, reason = "every command has this shape")]
pub fn run(context: &Context) -> CommandOutcome {
    let project = Project::of_person(&context.environment);
    let loaded = project.load(&context.environment);
    let all: Vec<(&RuleDefinition, RuleStatus)> =
        loaded.definitions.iter().map(|definition| (definition, loaded.rule_status(definition))).collect();
    if context.output.json {
        let rules: Vec<Value> = all.iter().map(|(definition, status)| to_json(definition, status)).collect();
        context.output.value(&json!({ "rules": rules }));
        return Ok(ExitCode::Done);
    }
    let (mut in_force, mut rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, status)| status.is_in_force());
    in_force.sort_by_key(|(definition, _)| &definition.rule.id);
    rest.sort_by_key(|(definition, _)| &definition.rule.id);
    show(if project.has_policy() { "In force" } else { "In force once there is a policy" }, &in_force, context);
    if !rest.is_empty() {
        context.output.blank();
        show("Not in force", &rest, context);
    }
    show_error_count(&loaded, context);
    if !project.has_policy() {
        context.output.blank();
        context.output.line("There is no policy in this folder or its parents, so nothing is checked yet: run `linchpin init` to write one.");
    }
    let outer = Project::of_sessions(&context.environment);
    if project.has_policy() && outer.root != project.root && outer.has_policy() {
        context.output.blank();
        context.output.line(format!(
            "The policy in {} applies here too: `linchpin status` shows the rules of both.",
            outer.root.display()
        ));
    }
    Ok(ExitCode::Done)
}

fn show(title: &str, rules: &[(&RuleDefinition, RuleStatus)], context: &Context) {
    let output = &context.output;
    output.line(output.bold(title));
    let width = rules.iter().map(|(definition, _)| definition.rule.id.len()).max().unwrap_or(0);
    for (definition, status) in rules {
        let rule = &definition.rule;
        let why = status.why(definition);
        output.line(format!("  {:<width$}  {:<5}  {:<7}  {why}", rule.id, rule.action.name(), rule.tier.name()));
    }
}

fn show_error_count(loaded: &LoadedPolicy, context: &Context) {
    let errors = loaded.errors().count();
    if errors > 0 {
        let found = counted(errors, "error");
        context.output.blank();
        context.output.line(format!("{found} in the policy files: `linchpin validate` shows them."));
    }
}

fn to_json(definition: &RuleDefinition, status: &RuleStatus) -> Value {
    let rule = &definition.rule;
    json!({
        "name": rule.id,
        "title": rule.title,
        "tier": rule.tier.name(),
        "source": definition.display_location(),
        "action": rule.action.name(),
        "locked": rule.locked,
        "digest": rule.digest,
        "in_force": status.is_in_force(),
        "why": status.why(definition),
    })
}
