//! Reads `triggers`: a mapping from events to actions.

use engine::EventKind;
use engine::workflow::EventTrigger;

use super::reader::{ActionReader, ActionSite};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::SpannedText;
use crate::text::yaml::{self, Yaml, YamlNode};
use crate::values::event_name::unknown_event;

impl ActionReader<'_, '_> {
    /// Reads the value of `triggers`. `end`: an upper bound for the end of the mapping.
    pub fn read_triggers(&mut self, node: YamlNode, end: usize) -> Vec<EventTrigger> {
        let Yaml::Map(entries) = node.value else {
            let message = format!("`triggers` must be a mapping of events to actions, not {}", node.value.kind());
            self.problems.push(Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(node.span)));
            return Vec::new();
        };
        let mut triggers = Vec::new();
        let ends = yaml::entry_ends(&entries, end);
        for ((key, node), end) in entries.into_iter().zip(ends) {
            let Some(on) = EventKind::from_name(&key.text) else {
                self.problems.push(unknown_event(SpannedText { value: key.text, span: key.span }, self.source));
                continue;
            };
            self.site = ActionSite::Event(on);
            let actions = self.read_list(&key.text, node, end);
            if !actions.is_empty() {
                triggers.push(EventTrigger { on, actions });
            }
        }
        triggers
    }
}
