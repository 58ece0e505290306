//! `rules delete`.

use super::report::report;
use super::{Context, Target};
use crate::arguments::NamedRule;
use crate::person;
use crate::problem::Outcome;

pub fn run(arguments: &NamedRule, context: &Context) -> Outcome {
    person::required("rules delete", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.delete(&arguments.id)?;
    report(&target, &changed, &[&arguments.id], context)
}
