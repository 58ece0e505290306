//! What a workflow or a configuration does by itself: at an event, and where a node is entered or left.
//!
//! Actions are done in the order of the file, and each sees what those before it set. One that fails does nothing, and is
//! told of. Their texts are for the agent; how it gets them is not known here.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Situation;
use engine::workflow::{Action, ActionEffect};

use crate::facts::LiveFacts;

/// What came of some actions. What they set lies over the facts.
#[derive(Debug, Default)]
pub struct Acted {
    /// For the agent.
    pub texts: Vec<String>,
    /// For the person.
    pub notices: Vec<String>,
}

impl Acted {
    pub fn extend(&mut self, more: Self) {
        self.texts.extend(more.texts);
        self.notices.extend(more.notices);
    }
}

/// `place`: what the person knows the list of actions by. `guides`: the texts of those that they name.
pub fn act<'w>(
    place: &str,
    actions: impl Iterator<Item = &'w Action>,
    guides: &BTreeMap<String, String>,
    situation: &Arc<Situation>,
    facts: &LiveFacts,
) -> Acted {
    let mut acted = Acted::default();
    facts.observing(true);
    for (number, action) in (1..).zip(actions) {
        match action.effect(guides, situation) {
            Ok(Some(ActionEffect::Changes(changes))) => facts.overlay(&changes),
            Ok(Some(ActionEffect::Text(text))) => acted.texts.extend(Some(text).filter(|text| !text.trim().is_empty())),
            Ok(None) => {}
            Err(why) => acted.notices.push(format!("action {number} of {place} did nothing: {why}")),
        }
    }
    facts.observing(false);
    acted
}
