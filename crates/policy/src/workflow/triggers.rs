//! `triggers`: what is done when an event comes, in a workflow or, from a configuration, in the whole project.

use std::collections::BTreeSet;

use engine::EventKind;
use engine::expr::Scope;
use engine::rules::Tier;
use engine::workflow::EventTrigger;

use super::actions::{ActionReader, Site};
use super::bundled;
use super::guides::{Guides, Templates};
use crate::config::{ConfigTriggers, Listing};
use crate::files::folder::{PolicyFolder, Tiers};
use crate::files::inputs::Inputs;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Text;
use crate::text::source::Source;
use crate::text::yaml::{self, Node, Yaml};
use crate::values::event_name::unknown_event;

impl ActionReader<'_, '_> {
    /// `end`: where the mapping ends at the latest.
    pub fn triggers(&mut self, node: Node, end: usize) -> Vec<EventTrigger> {
        let Yaml::Map(entries) = node.value else {
            let message = format!("`triggers` takes a mapping of events to actions, not {}", node.value.kind());
            self.problems.push(Diagnostic::error(ErrorKind::InvalidValue, message, self.source, Some(node.span)));
            return Vec::new();
        };
        let mut triggers = Vec::new();
        let ends = yaml::ends(&entries, end);
        for ((key, node), end) in entries.into_iter().zip(ends) {
            let Some(on) = EventKind::from_name(&key.text) else {
                self.problems.push(unknown_event(Text { value: key.text, span: key.span }, self.source));
                continue;
            };
            self.site = Site::Event(on);
            let actions = self.list(&key.text, node, end);
            if !actions.is_empty() {
                triggers.push(EventTrigger { on, actions });
            }
        }
        triggers
    }
}

/// What the triggers of a configuration gave.
pub struct TriggersOfConfig {
    pub triggers: ConfigTriggers,
    /// The rules of their `block_tools`.
    pub blocked: Vec<Listing>,
    pub problems: Vec<Diagnostic>,
    /// The guides that were looked at.
    pub inputs: Inputs<'static>,
}

/// What the triggers of a configuration are read by.
pub struct ConfigGround<'a> {
    pub tiers: &'a Tiers,
    pub source: &'a Source,
    pub tier: Tier,
    pub scope: &'a Scope,
    pub users_variables: &'a BTreeSet<String>,
}

pub fn of_config(node: Node, end: usize, ground: &ConfigGround) -> TriggersOfConfig {
    let ConfigGround { tiers, source, tier, scope, users_variables } = *ground;
    let own: Vec<&PolicyFolder> =
        tiers.project.iter().chain(&tiers.user).filter(|folder| folder.tier >= tier).collect();
    let guides = Guides::new(own, bundled::GUIDES);
    let (mut blocked, mut problems) = (Vec::new(), Vec::new());
    let mut templates = Templates::new(&guides, "the configuration".to_owned(), scope);
    let mut reader = ActionReader {
        site: Site::Enter,
        source,
        tier,
        scope,
        users_variables,
        blocked: &mut |list| blocked.push(list),
        templates: &mut templates,
        problems: &mut problems,
    };
    let triggers = reader.triggers(node, end);
    problems.append(&mut templates.problems);
    let triggers = ConfigTriggers { triggers, guides: templates.texts };
    TriggersOfConfig { triggers, blocked, problems, inputs: guides.into_inputs() }
}
