use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::expr::{self, template};
use crate::file_rules::Reach;
use crate::observers::{Changes, Template, values};
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
pub enum Effect {
    Changes(Changes),
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
    ) -> Result<Option<Effect>, String> {
        if let Some(when) = &self.when {
            let holds = expr::holds(when, situation, Reach::default());
            known(situation)?;
            if !holds.map_err(|error| format!("`when` cannot be evaluated: {}", error.message))? {
                return Ok(None);
            }
        }
        let effect = match &self.kind {
            ActionKind::Set(variables) => Effect::Changes(values(variables, situation)?),
            ActionKind::Inject(text) => {
                let text = template::render(text, guides, situation);
                known(situation)?;
                Effect::Text(text.map_err(|error| format!("`inject` cannot be rendered: {}", error.message))?)
            }
        };
        Ok(Some(effect))
    }
}

/// Whether all that was asked for could be told.
fn known(situation: &Situation) -> Result<(), String> {
    match situation.facts.take_fault() {
        Some(why) => Err(why),
        None if situation.facts.take_missed() => {
            Err("what it depends on is in the journal, which cannot be read".to_owned())
        }
        None => Ok(()),
    }
}

/// What happens when an event comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    pub on: EventKind,
    pub actions: Vec<Action>,
}
