//! Observers of a workflow or a hat, and whose variables they may set.

use engine::observers::Observer;
use engine::rules::Tier;

use super::Around;
use crate::observers;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::values::users_variable::users_own;

#[derive(Default)]
pub struct Observing {
    pub observers: Vec<Observer>,
    /// What only a scope can tell.
    pub unchecked: Vec<observers::Unchecked>,
}

pub fn read(fields: &mut Fields, source: &Source, tier: Tier, around: &Around) -> Observing {
    let Some(node) = fields.take("observers") else { return Observing::default() };
    let mut reading = observers::read(node, source, tier);
    fields.problems.append(&mut reading.problems);
    let mut observing = Observing { unchecked: reading.unchecked, observers: Vec::new() };
    let users = around.loaded.config.observers.iter().filter(|known| known.tier == Tier::User);
    let users: Vec<&Observer> = users.collect();
    for placed in reading.observers {
        if tier == Tier::Project && users.iter().any(|known| known.kind == placed.observer.kind) {
            // The very same: it runs already, and sets what it sets.
            continue;
        }
        if observing.observers.iter().any(|known| known.name == placed.observer.name) {
            let message = format!("two observers are named `{}`", placed.observer.name);
            let problem = Diagnostic::error(ErrorKind::InvalidValue, message, source, Some(placed.span));
            fields.problems.push(problem.help("give one of them another `name`"));
            continue;
        }
        for variable in placed.observer.variables() {
            if let Some(problem) = users_own(variable, tier, &around.loaded.context.users_variables) {
                fields.problems.push(problem.at(source, placed.span.clone()));
            }
        }
        observing.observers.push(placed.observer);
    }
    observing
}
