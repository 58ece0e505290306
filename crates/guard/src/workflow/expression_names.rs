//! The names that an expression may use, with their current values: for trying out an expression.

use std::sync::Arc;

use engine::Situation;
use engine::expr::Scope;
use engine::facts::{Facts, LoopField, PhaseField, TaskField, WorkflowField};
use serde_json::{Map, Value, json};

use super::WorkflowCommands;
use super::loaded_states::LoadedStates;

/// Names and values for trying out an expression.
pub struct ExpressionNames {
    /// Values by name, except `git` and `files`.
    pub names: Map<String, Value>,
    /// Provides the values of functions, of `git` and of `files`.
    pub situation: Arc<Situation>,
    /// The names that an expression may use.
    pub scope: Scope,
}

impl WorkflowCommands<'_> {
    /// The names for an expression in a rule of the active workflow or, if no workflow is active, of the project. All
    /// claims are false, because claims are only made with a move.
    pub fn expression_names(&self) -> ExpressionNames {
        // A query must not create a journal.
        let has_journal = self.project.journal_path(self.environment).exists();
        let stored = has_journal.then(|| self.load_states().ok()).flatten();
        let active = stored.as_ref().and_then(|stored| self.active_in(stored).ok()).map(Arc::new);
        let (situation, facts) = if let (Some(stored), Some(active)) = (&stored, &active) {
            self.situation_and_facts(active, stored)
        } else {
            let session = stored.as_ref().and_then(LoadedStates::known_session);
            let event = Arc::new(self.event());
            self.situation_builder().situation_of_policy(self.project, &self.policy, &event, session, None)
        };
        let object = |fields: Vec<(&str, Value)>| -> Value {
            // An unknown value is left out, so that its name is undefined.
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect())
        };
        let claims: Vec<String> = active.iter().flat_map(|active| active.workflow.all_claims()).collect();
        let config = &self.policy.config;
        // If the session is unknown, its variables have their initial values.
        let declared = || {
            let of_workflow = active.iter().flat_map(|active| active.workflow.variables.keys().cloned());
            config.variable_names().map(str::to_owned).chain(of_workflow).collect()
        };
        let variables: Vec<String> = facts.variable_names().unwrap_or_else(|_| declared());
        let variables: Vec<String> = variables.into_iter().filter(|name| !name.starts_with('_')).collect();
        let value = |name: &String| facts.variable(name).unwrap_or_else(|_| config.initial_value(name));
        let values = variables.iter().filter_map(|name| Some((name.as_str(), value(name)?)));
        let workflow = |field: WorkflowField| facts.workflow(field).unwrap_or_else(|_| field.without_workflow());
        let names = [
            ("workflow", object(WorkflowField::ALL.map(|field| (field.name(), workflow(field))).to_vec())),
            (
                "phase",
                object(PhaseField::ALL.map(|field| (field.name(), facts.phase(field).unwrap_or_default())).to_vec()),
            ),
            (
                "loop",
                object(
                    LoopField::ALL.map(|field| (field.name(), facts.loop_field(field).unwrap_or_default())).to_vec(),
                ),
            ),
            (
                "tasks",
                object(TaskField::ALL.map(|field| (field.name(), facts.tasks(field).unwrap_or_default())).to_vec()),
            ),
            ("claims", object(claims.iter().map(|claim| (claim.as_str(), json!(false))).collect())),
            ("variables", object(values.collect())),
        ];
        let mut scope = Scope::with_variables(variables.iter().cloned());
        let of_workflow = active.iter().flat_map(|active| &active.workflow.observers);
        for observer in config.observers.iter().chain(of_workflow) {
            observer.declare_in(&mut scope);
        }
        let scope = if active.is_some() { scope.in_workflow(claims).for_transitions() } else { scope };
        let has_fields = |value: &Value| value.as_object().is_some_and(|fields| !fields.is_empty());
        let names = names.into_iter().filter(|(_, value)| has_fields(value));
        let names = names.map(|(name, value)| (name.to_owned(), value)).collect();
        ExpressionNames { names, situation, scope }
    }
}
