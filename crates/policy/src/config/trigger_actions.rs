//! The `triggers` of a configuration: actions on events, with or without an active workflow.

use std::collections::BTreeMap;

use engine::EventKind;
use engine::workflow::{EventTrigger, WorkflowAction};
use serde::{Deserialize, Serialize};

/// The triggers of one configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConfigTriggers {
    pub triggers: Vec<EventTrigger>,
    /// The guides that the triggers include: texts by name.
    pub guides: BTreeMap<String, String>,
}

impl ConfigTriggers {
    pub fn has_any(&self, kind: EventKind) -> bool {
        self.triggers.iter().any(|trigger| trigger.on == kind)
    }

    /// The actions on events of this kind.
    pub fn actions_on(&self, kind: EventKind) -> impl Iterator<Item = &WorkflowAction> {
        self.triggers.iter().filter(move |trigger| trigger.on == kind).flat_map(|trigger| &trigger.actions)
    }
}
