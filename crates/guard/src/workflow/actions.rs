//! Runs actions of a workflow or of the configuration: at an event, and when a node is entered or left.
//!
//! Actions run in the order of the file, and each sees the variables that earlier ones set. An action that fails does
//! nothing and causes a notice. The texts of actions are for the agent; the caller delivers them.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Situation;
use engine::workflow::{Action, ActionEffect};

use crate::facts::LiveFacts;

/// The results of actions. The variables they set are in the facts.
#[derive(Debug, Default)]
pub struct ActionOutput {
    /// Texts for the agent.
    pub texts: Vec<String>,
    /// Notices for the person.
    pub notices: Vec<String>,
}

impl ActionOutput {
    pub fn extend(&mut self, more: Self) {
        self.texts.extend(more.texts);
        self.notices.extend(more.notices);
    }
}

/// Runs the actions in order. `source` describes the list of actions in notices. `guides` has the texts of the guides
/// that actions may name.
pub fn run_actions<'w>(
    source: &str,
    actions: impl Iterator<Item = &'w Action>,
    guides: &BTreeMap<String, String>,
    situation: &Arc<Situation>,
    facts: &LiveFacts,
) -> ActionOutput {
    let mut action_output = ActionOutput::default();
    facts.set_observing(true);
    for (number, action) in (1..).zip(actions) {
        match action.effect(guides, situation) {
            Ok(Some(ActionEffect::Changes(changes))) => facts.overlay(&changes),
            Ok(Some(ActionEffect::Text(text))) => {
                action_output.texts.extend(Some(text).filter(|text| !text.trim().is_empty()));
            }
            Ok(None) => {}
            Err(why) => action_output.notices.push(format!("action {number} of {source} did nothing: {why}")),
        }
    }
    facts.set_observing(false);
    action_output
}
