//! `rules import`: copies rules from elsewhere into a policy.

use guard::Project;
use policy::edit::EditOutcome;

use super::report::report;
use super::{Context, Target};
use crate::arguments::ImportRulesArguments;
use crate::person;
use crate::problem::CommandOutcome;

pub fn run(arguments: &ImportRulesArguments, context: &Context) -> CommandOutcome {
    person::required("rules import", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.import(&arguments.from, arguments.force)?;
    let rules = changed.changes.iter().filter(|change| change.path.extension().is_some_and(|name| name == "md"));
    let ids: Vec<String> =
        rules.filter_map(|change| change.path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
    let code = report(&target, &changed, &ids.iter().map(String::as_str).collect::<Vec<_>>(), context)?;
    if !context.output.json {
        list_disabled_rules(&target, &changed, context);
    }
    Ok(code)
}

/// Lists the rules of imported libraries that are not in force until a person enables them.
fn list_disabled_rules(target: &Target, changed: &EditOutcome, context: &Context) {
    let now = Project::at(&target.project.root, &context.environment).load(&context.environment);
    for change in changed.changes.iter().filter(|change| change.path.extension().is_some_and(|name| name == "yml")) {
        let own = now.definitions.iter().filter(|definition| definition.rule.source == change.name);
        let off: Vec<&str> =
            own.map(|definition| definition.rule.id.as_str()).filter(|id| now.in_force(id).is_none()).collect();
        if let Some(first) = off.first() {
            let rules = off.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
            let output = &context.output;
            output.line(format!("Off until you enable them: {rules}. Run `linchpin rules enable {first}`."));
        }
    }
}
