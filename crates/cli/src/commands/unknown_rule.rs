//! The errors for a rule that does not exist or is not in force.

use engine::suggest;
use policy::LoadedPolicy;

use crate::problem::Problem;

/// Returns the error for a name that no rule has. `known`: the names to suggest from.
pub fn unknown_rule<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Problem {
    let help = suggest::closest(name, known)
        .map_or_else(|| "`linchpin rules list` lists the rules".to_owned(), suggest::did_you_mean);
    Problem::new("UnknownRule", format!("there is no rule `{name}`")).help(help)
}

/// Returns the error for a name that no definition of this policy has.
pub fn undefined_rule(name: &str, loaded: &LoadedPolicy) -> Problem {
    unknown_rule(name, loaded.definitions.iter().map(|definition| definition.rule.id.as_str()))
}

/// Returns the error for a name that no rule in force has.
pub fn not_in_force(name: &str, loaded: &LoadedPolicy) -> Problem {
    match loaded.definitions_named(name).first() {
        Some(definition) => {
            let why = loaded.rule_status(definition).why(definition);
            Problem::new("UnknownRule", format!("rule `{name}` is not in force: {why}"))
        }
        None => undefined_rule(name, loaded),
    }
}
