//! Reads the observers of a workflow or hat, and checks that they do not set variables of the user's policy.

use engine::observers::Observer;
use engine::rules::Tier;

use super::WorkflowContext;
use crate::observers;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::values::user_variable::conflict_with_user;

/// The observers of a workflow or hat.
#[derive(Default)]
pub struct ObserverList {
    pub observers: Vec<Observer>,
    /// Expressions to check against a scope.
    pub unchecked: Vec<observers::UncheckedExpression>,
}

pub fn read(fields: &mut Fields, source: &Source, tier: Tier, context: &WorkflowContext) -> ObserverList {
    let Some(node) = fields.take("observers") else { return ObserverList::default() };
    let mut parsed = observers::read(node, source, tier);
    fields.problems.append(&mut parsed.problems);
    let mut observer_list = ObserverList { unchecked: parsed.unchecked, observers: Vec::new() };
    let user_observers = context.loaded.config.observers.iter().filter(|observer| observer.tier == Tier::User);
    let user_observers: Vec<&Observer> = user_observers.collect();
    for spanned in parsed.observers {
        if tier == Tier::Project && user_observers.iter().any(|observer| observer.kind == spanned.observer.kind) {
            // The user's policy has the same observer.
            continue;
        }
        if observer_list.observers.iter().any(|observer| observer.name == spanned.observer.name) {
            let message = format!("duplicate observer name `{}`", spanned.observer.name);
            let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, source, Some(spanned.span));
            fields.problems.push(problem.help("change the `name` of one of them"));
            continue;
        }
        for variable in spanned.observer.variables() {
            if let Some(problem) = conflict_with_user(variable, tier, &context.loaded.context.users_variables) {
                fields.problems.push(problem.diagnostic_at(source, spanned.span.clone()));
            }
        }
        observer_list.observers.push(spanned.observer);
    }
    observer_list
}
