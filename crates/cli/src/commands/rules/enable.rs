//! `rules enable` and `rules disable`: switch a rule on or off.

use super::report::report;
use super::{Context, Target};
use crate::arguments::NamedRuleArguments;
use crate::person;
use crate::problem::CommandOutcome;

pub fn enable(arguments: &NamedRuleArguments, context: &Context) -> CommandOutcome {
    person::required("rules enable", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.enable(&arguments.id)?;
    report(&target, &changed, &[&arguments.id], context)
}

pub fn disable(arguments: &NamedRuleArguments, context: &Context) -> CommandOutcome {
    person::required("rules disable", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.disable(&arguments.id)?;
    report(&target, &changed, &[&arguments.id], context)
}
