//! Runs actions of a workflow or of the configuration: at an event, and when a node is entered or left.
//!
//! Actions run in the order of the file, and each action sees the variables that earlier actions set. An action that
//! fails does nothing and causes a notice. The texts of actions are for the agent; the caller delivers them.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Situation;
use engine::observers::VariableChanges;
use engine::workflow::{ActionEffect, WorkflowAction};

use crate::facts::LiveFacts;

/// The results of actions.
#[derive(Debug, Default)]
pub struct ActionOutput {
    /// Texts for the agent.
    pub texts: Vec<String>,
    /// Notices for the person.
    pub notices: Vec<String>,
    /// The variables that the actions set or unset.
    pub changes: VariableChanges,
}

impl ActionOutput {
    pub fn extend(&mut self, more: Self) {
        self.texts.extend(more.texts);
        self.notices.extend(more.notices);
        self.changes.extend(more.changes);
    }
}

/// Runs the actions in order, and applies their changes to `facts`. Notices name the list of actions by `source`.
/// `guides` has the texts of the guides that actions may name.
pub fn run_actions<'w>(
    source: &str,
    actions: impl Iterator<Item = &'w WorkflowAction>,
    guides: &BTreeMap<String, String>,
    situation: &Arc<Situation>,
    facts: &LiveFacts,
) -> ActionOutput {
    let mut action_output = ActionOutput::default();
    facts.pause_recording();
    for (number, action) in (1..).zip(actions) {
        match action.effect(guides, situation) {
            Ok(Some(ActionEffect::Changes(changes))) => {
                facts.apply_changes(&changes);
                action_output.changes.extend(changes);
            }
            Ok(Some(ActionEffect::Text(text))) => {
                action_output.texts.extend(Some(text).filter(|text| !text.trim().is_empty()));
            }
            Ok(None) => {}
            Err(why) => action_output.notices.push(format!("action {number} of {source} did nothing: {why}")),
        }
    }
    facts.resume_recording();
    action_output
}
