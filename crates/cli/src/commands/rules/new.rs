//! `rules new`: creates a rule from command-line arguments.

use policy::edit::RuleDraft;

use super::report::report;
use super::{Context, Target};
use crate::arguments::NewRuleArguments;
use crate::person;
use crate::problem::CommandOutcome;

pub fn run(arguments: &NewRuleArguments, context: &Context) -> CommandOutcome {
    person::required("rules new", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.create(&RuleDraft {
        id: arguments.id.clone(),
        tools: arguments.tools.clone(),
        mcp_tools: arguments.mcp_tools.clone(),
        command_pattern: arguments.command_pattern.clone(),
        paths: arguments.paths.clone(),
        on: arguments.on.clone(),
        when: arguments.when.clone(),
        action: arguments.action.clone(),
        reason: arguments.reason.clone(),
    })?;
    report(&target, &changed, &[&arguments.id], context)
}
