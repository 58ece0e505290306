use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::expr::{self, EvaluationError, OnMissing, template};
use crate::facts::{FactStore, Missing};
use crate::file_rules::ChangeScope;
use crate::observers::{SetValue, VariableChanges, evaluate_set};
use crate::situation::Situation;

/// An action at a node of a workflow or at an event. The action sets variables, or gives the agent a text to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowAction {
    /// An expression that must be true; `None` if the action has no condition.
    pub when: Option<String>,
    pub kind: ActionKind,
}

/// The kinds of actions. `block_tools` is not among them, because Linchpin derives rules from this key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActionKind {
    /// Sets these variables to these values.
    Set(Vec<(String, SetValue)>),
    /// Gives the agent the rendered template to read.
    Inject(String),
}

/// The effect of an action whose condition is true.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionEffect {
    Changes(VariableChanges),
    /// A text for the agent to read.
    Text(String),
}

impl WorkflowAction {
    /// Returns the action's effect; `None` if the action's condition is false. `guides` has the texts of the guides
    /// that the action can include.
    pub fn effect(
        &self,
        guides: &BTreeMap<String, String>,
        situation: &Arc<Situation>,
    ) -> Result<Option<ActionEffect>, String> {
        if let Some(when) = &self.when {
            let is_true = expr::is_true(when, situation, ChangeScope::default());
            if !is_true.map_err(|error| failure_message("`when` cannot be evaluated", error))? {
                return Ok(None);
            }
        }
        let effect = match &self.kind {
            ActionKind::Set(variables) => ActionEffect::Changes(evaluate_set(variables, situation)?),
            ActionKind::Inject(text) => {
                let text = template::render(text, guides, situation, OnMissing::Abort);
                ActionEffect::Text(text.map_err(|error| failure_message("`inject` cannot be rendered", error))?)
            }
        };
        Ok(Some(effect))
    }
}

/// Says why an action failed. `problem` names the part that failed.
fn failure_message(problem: &str, error: EvaluationError) -> String {
    match error {
        EvaluationError::Missing(Missing::Failed(why)) => why,
        EvaluationError::Missing(Missing::Unavailable(FactStore::Session | FactStore::Journal)) => {
            "it depends on the journal, which cannot be read".to_owned()
        }
        error => format!("{problem}: {error}"),
    }
}

/// The actions that run at events of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTrigger {
    pub on: EventKind,
    pub actions: Vec<WorkflowAction>,
}
