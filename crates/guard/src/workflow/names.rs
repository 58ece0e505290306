//! What expressions of the active workflow know, written down: for whoever tries one out.

use std::sync::Arc;

use engine::facts::{PhaseField, WorkflowField};
use serde_json::{Map, Value, json};

use super::{Moves, Refusal};

impl Moves<'_> {
    /// `workflow`, `phase`, `claims` and `variables`, as a rule sees them now. Claims are made with a move, so none is made.
    pub fn names(&self) -> Result<Map<String, Value>, Refusal> {
        let (scene, active) = self.active()?;
        let active = Arc::new(active);
        let facts = Arc::clone(&self.situation(&active, &scene).facts);
        let workflow = WorkflowField::ALL.map(|field| (field.name().to_owned(), facts.workflow(field)));
        let phase = PhaseField::ALL.map(|field| (field.name().to_owned(), facts.phase(field)));
        // What cannot be known is undefined.
        let phase: Map<String, Value> = phase.into_iter().filter(|(_, value)| !value.is_null()).collect();
        let claims: Map<String, Value> = active.workflow.all_claims().map(|claim| (claim, json!(false))).collect();
        let names = facts.variable_names().into_iter().filter(|name| !name.starts_with('_'));
        let variables: Map<String, Value> =
            names.filter_map(|name| Some((name.clone(), facts.variable(&name)?))).collect();
        let names = [
            ("workflow", Value::Object(Map::from_iter(workflow))),
            ("phase", Value::Object(phase)),
            ("claims", Value::Object(claims)),
            ("variables", Value::Object(variables)),
        ];
        Ok(names.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
    }
}
