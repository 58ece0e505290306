use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::expr::{self, EvaluationError, OnMissing, template};
use crate::facts::{FactStore, Missing};
use crate::file_rules::ChangeScope;
use crate::observers::{Template, VariableChanges, evaluate_set};
use crate::situation::Situation;

/// An action that is run without the agent: it sets variables, or gives the agent a text to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// A condition; `None` for always.
    pub when: Option<String>,
    pub kind: ActionKind,
}

/// Kinds of actions. `block_tools` is not one of them, because it is compiled to rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActionKind {
    /// Variables and their new values.
    Set(Vec<(String, Template)>),
    /// A template, for the agent to read.
    Inject(String),
}

/// The effect of an action whose condition is true.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionEffect {
    Changes(VariableChanges),
    /// A text for the agent to read.
    Text(String),
}

impl Action {
    /// The action's effect; `None` if its condition is false. A failing action has no effect, and the error says why.
    /// `guides` has the texts of the guides that the action includes.
    pub fn effect(
        &self,
        guides: &BTreeMap<String, String>,
        situation: &Arc<Situation>,
    ) -> Result<Option<ActionEffect>, String> {
        if let Some(when) = &self.when {
            let holds = expr::is_true(when, situation, ChangeScope::default());
            if !holds.map_err(|error| failure_message("`when` cannot be evaluated", error))? {
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

/// Explains why an action failed; `what` names the failed part.
fn failure_message(what: &str, error: EvaluationError) -> String {
    match error {
        EvaluationError::Missing(Missing::Failed(why)) => why,
        EvaluationError::Missing(Missing::Unreadable(FactStore::Session | FactStore::Journal)) => {
            "it depends on the journal, which cannot be read".to_owned()
        }
        error => format!("{what}: {error}"),
    }
}

/// Actions on an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTrigger {
    pub on: EventKind,
    pub actions: Vec<Action>,
}
