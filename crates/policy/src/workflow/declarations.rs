//! Reads a workflow's variables, observers and claims, and builds the scopes of its expressions from them.

use std::collections::BTreeMap;

use engine::expr::Scope;
use engine::observers::Observer;
use engine::workflow::Workflow;

use super::workflow_reader::WorkflowReader;
use super::{observers, variables};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::yaml::{YamlKey, YamlNode};

pub struct Declarations {
    /// Names and initial values as JSON.
    pub variables: BTreeMap<String, String>,
    pub observers: Vec<Observer>,
    pub claims: Vec<String>,
    /// The scope of expressions that are not evaluated at a transition.
    pub scope: Scope,
    /// The scope of expressions that are evaluated at a transition: its condition, gates, `on_enter` and `on_exit`.
    pub transition_scope: Scope,
}

impl WorkflowReader<'_> {
    pub fn read_declarations(
        self,
        nodes: &[(YamlKey, YamlNode)],
        fields: &mut Fields,
        problems: &mut Vec<Diagnostic>,
    ) -> Declarations {
        let variables = variables::read(fields, self.tier, self.context);
        let observer_list = observers::read(fields, self.source, self.tier, self.context);
        let observers = observer_list.observers;
        let claims = self.read_claims(nodes, &variables, fields);
        let scope = self.build_scope(&variables, &observers, nodes, &claims);
        problems.extend(observer_list.unchecked.iter().flat_map(|unchecked| unchecked.problems(&scope)));
        let transition_scope = scope.for_transitions();
        let claims = claims.into_iter().map(|claim| claim.value).collect();
        Declarations { variables, observers, claims, scope, transition_scope }
    }

    fn read_claims(
        self,
        nodes: &[(YamlKey, YamlNode)],
        variables: &BTreeMap<String, String>,
        fields: &mut Fields,
    ) -> Vec<SpannedText> {
        let claims = fields.texts("claims").unwrap_or_default();
        let policy_scope = &self.context.loaded.context.scope;
        let is_variable = |name: &str| variables.contains_key(name) || policy_scope.knows_variable(name);
        let conflict = |name: &str| format!("`{name}` is declared both as a claim and as a variable");
        for claim in &claims {
            if let Err(why) = engine::expr::check_variable_name(&claim.value) {
                let why = why.replace("a variable", "a claim");
                fields.refuse(DiagnosticKind::InvalidValue, why, claim.span.clone());
            } else if is_variable(&claim.value) {
                fields.refuse(DiagnosticKind::InvalidValue, conflict(&claim.value), claim.span.clone());
            }
        }
        for (key, _) in nodes {
            let completion_claim = Workflow::completion_claim(&key.text);
            if is_variable(&completion_claim) {
                let message = format!("{} (node `{}`)", conflict(&completion_claim), key.text);
                fields.refuse(DiagnosticKind::InvalidValue, message, key.span.clone());
            }
        }
        claims
    }

    fn build_scope(
        self,
        variables: &BTreeMap<String, String>,
        observers: &[Observer],
        nodes: &[(YamlKey, YamlNode)],
        claims: &[SpannedText],
    ) -> Scope {
        let mut scope = self.context.loaded.context.scope.clone();
        for name in variables.keys() {
            scope.declare(name);
        }
        for observer in observers {
            observer.declare_in(&mut scope);
        }
        let nodes = nodes.iter().filter(|(key, _)| !Workflow::is_end(&key.text));
        let completion_claims = nodes.map(|(key, _)| Workflow::completion_claim(&key.text));
        scope.in_workflow(completion_claims.chain(claims.iter().map(|claim| claim.value.clone())))
    }
}
