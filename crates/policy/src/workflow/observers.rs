//! Reads the observers of a workflow or hat, and checks that they do not set variables of the user's policy.

use engine::observers::Observer;
use engine::rules::Tier;

use super::WorkflowContext;
use crate::observers;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::values::user_variable::conflict_with_user;

#[derive(Default)]
pub struct ObserverList {
    pub observers: Vec<Observer>,
    /// Expressions to check against a scope.
    pub unchecked: Vec<observers::UncheckedExpression>,
}

pub fn read(fields: &mut Fields, source: &Source, tier: Tier, context: &WorkflowContext) -> ObserverList {
    let Some(node) = fields.take("observers") else { return ObserverList::default() };
    let mut reading = observers::read(node, source, tier);
    fields.problems.append(&mut reading.problems);
    let mut list = ObserverList { unchecked: reading.unchecked, observers: Vec::new() };
    let users = context.loaded.config.observers.iter().filter(|known| known.tier == Tier::User);
    let users: Vec<&Observer> = users.collect();
    for placed in reading.observers {
        if tier == Tier::Project && users.iter().any(|known| known.kind == placed.observer.kind) {
            // The user's policy has the same observer.
            continue;
        }
        if list.observers.iter().any(|known| known.name == placed.observer.name) {
            let message = format!("duplicate observer name `{}`", placed.observer.name);
            let problem = Diagnostic::error(ErrorKind::InvalidValue, message, source, Some(placed.span));
            fields.problems.push(problem.help("change the `name` of one of them"));
            continue;
        }
        for variable in placed.observer.variables() {
            if let Some(problem) = conflict_with_user(variable, tier, &context.loaded.context.users_variables) {
                fields.problems.push(problem.at(source, placed.span.clone()));
            }
        }
        list.observers.push(placed.observer);
    }
    list
}
