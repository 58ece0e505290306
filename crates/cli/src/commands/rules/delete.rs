//! `rules delete`: deletes a rule.

use super::report::report;
use super::{Context, Target};
use crate::arguments::NamedRuleArguments;
use crate::person;
use crate::problem::CommandOutcome;

pub fn run(arguments: &NamedRuleArguments, context: &Context) -> CommandOutcome {
    person::required("rules delete", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.delete(&arguments.id)?;
    report(&target, &changed, &[&arguments.id], context)
}
