use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::expr::{self, EvaluationError, OnMissing, template};
use crate::facts::{Missing, Stored};
use crate::file_rules::ChangeScope;
use crate::observers::{Template, VariableChanges, values};
use crate::situation::Situation;

/// Something that a workflow does by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// An expression; `None`: always.
    pub when: Option<String>,
    pub kind: ActionKind,
}

/// `block_tools` is none of them: what it holds are rules, and they stand with the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActionKind {
    /// Variables and their new values.
    Set(Vec<(String, Template)>),
    /// A template, for the agent to read.
    Inject(String),
}

/// What an action comes to, where its `when` is true.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionEffect {
    Changes(VariableChanges),
    /// For the agent to read.
    Text(String),
}

impl Action {
    /// What it does in this situation; nothing where its `when` is not true. One that fails does nothing, and says why.
    /// `guides`: the texts of those that it names.
    pub fn effect(
        &self,
        guides: &BTreeMap<String, String>,
        situation: &Arc<Situation>,
    ) -> Result<Option<ActionEffect>, String> {
        if let Some(when) = &self.when {
            let holds = expr::holds(when, situation, ChangeScope::default());
            if !holds.map_err(|error| told("`when` cannot be evaluated", error))? {
                return Ok(None);
            }
        }
        let effect = match &self.kind {
            ActionKind::Set(variables) => ActionEffect::Changes(values(variables, situation)?),
            ActionKind::Inject(text) => {
                let text = template::render(text, guides, situation, OnMissing::Abort);
                ActionEffect::Text(text.map_err(|error| told("`inject` cannot be rendered", error))?)
            }
        };
        Ok(Some(effect))
    }
}

/// Why an action does nothing; `what`: what of it failed.
fn told(what: &str, error: EvaluationError) -> String {
    match error {
        EvaluationError::Missing(Missing::Failed(why)) => why,
        EvaluationError::Missing(Missing::Unreadable(Stored::Session | Stored::Journal)) => {
            "what it depends on is in the journal, which cannot be read".to_owned()
        }
        error => format!("{what}: {error}"),
    }
}

/// What happens when an event comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTrigger {
    pub on: EventKind,
    pub actions: Vec<Action>,
}
