//! `rules`: what there is, what is in force and why, and changing it.

mod list;
mod show;
mod which;

use engine::suggest;
use guard::Project;
use guard::trust::Trust;
use policy::{Before, Loaded};

use super::Context;
use crate::arguments::Rules;
use crate::problem::{Outcome, Problem};

pub fn run(what: &Rules, context: &Context) -> Outcome {
    match what {
        Rules::List => list::run(context),
        Rules::Which { name } => which::run(name, context),
        Rules::Show { name } => show::run(name, context),
    }
}

/// The policy as its files are now.
fn load(context: &Context) -> Loaded {
    let project = Project::of_person(&context.environment);
    let trust = Trust::of(&project.root, &context.environment);
    policy::load(&project.tiers, &Before::default(), |weakening| trust.accepts(weakening))
}

fn unknown(name: &str, loaded: &Loaded) -> Problem {
    let known = loaded.definitions.iter().map(|definition| definition.rule.id.as_str());
    let help = suggest::closest(name, known)
        .map_or_else(|| "`linchpin rules list` shows what there is".to_owned(), suggest::did_you_mean);
    Problem::new("UnknownRule", format!("no rule is named `{name}`")).help(help)
}
