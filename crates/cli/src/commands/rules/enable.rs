//! `rules enable` and `rules disable`.

use super::report::report;
use super::{Context, Target};
use crate::arguments::NamedRule;
use crate::person;
use crate::problem::Outcome;

pub fn enable(arguments: &NamedRule, context: &Context) -> Outcome {
    person::required("rules enable", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.enable(&arguments.id)?;
    report(&target, &changed, &[&arguments.id], context)
}

pub fn disable(arguments: &NamedRule, context: &Context) -> Outcome {
    person::required("rules disable", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.disable(&arguments.id)?;
    report(&target, &changed, &[&arguments.id], context)
}
