//! `rules import`.

use super::report::report;
use super::{Context, Target};
use crate::arguments::ImportRules;
use crate::person;
use crate::problem::Outcome;

pub fn run(arguments: &ImportRules, context: &Context) -> Outcome {
    person::required("rules import", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let changed = target.editor.import(&arguments.from, arguments.force)?;
    let rules = changed.changes.iter().filter(|change| change.path.extension().is_some_and(|name| name == "md"));
    let ids: Vec<String> =
        rules.filter_map(|change| change.path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
    report(&target, &changed, &ids.iter().map(String::as_str).collect::<Vec<_>>(), context)
}
