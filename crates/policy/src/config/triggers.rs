//! `triggers` of a configuration: what is done when an event comes, whether or not a workflow is active.

use std::collections::BTreeMap;

use engine::EventKind;
use engine::workflow::{Action, EventTrigger};
use serde::{Deserialize, Serialize};

/// The triggers of one configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConfigTriggers {
    pub triggers: Vec<EventTrigger>,
    /// The texts of the guides that they name.
    pub guides: BTreeMap<String, String>,
}

impl ConfigTriggers {
    pub fn has_any(&self, kind: EventKind) -> bool {
        self.triggers.iter().any(|trigger| trigger.on == kind)
    }

    /// What is to be done when an event of this kind comes.
    pub fn actions_on(&self, kind: EventKind) -> impl Iterator<Item = &Action> {
        self.triggers.iter().filter(move |trigger| trigger.on == kind).flat_map(|trigger| &trigger.actions)
    }
}
