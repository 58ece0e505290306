//! Reads the `triggers` of a configuration, once every name that they may use is known.
//!
//! Stands above the configuration, which keeps what comes of it, and above the actions.

use std::collections::BTreeSet;

use engine::expr::Scope;
use engine::rules::Tier;

use crate::actions::{ActionReader, GUIDES, Guides, Site, Templates};
use crate::config::ConfigTriggers;
use crate::files::folder::{PolicyFolder, Tiers};
use crate::files::inputs::Inputs;
use crate::listing::Listing;
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Source;
use crate::text::yaml::YamlNode;

/// What the triggers of a configuration gave.
pub struct TriggersOfConfig {
    pub triggers: ConfigTriggers,
    /// The rules of their `block_tools`.
    pub blocked: Vec<Listing>,
    pub problems: Vec<Diagnostic>,
    /// The guides that were looked at.
    pub inputs: Inputs<'static>,
}

/// The configuration that the triggers stand in, and what they may name.
pub struct TriggerSource<'a> {
    pub tiers: &'a Tiers,
    pub source: &'a Source,
    pub tier: Tier,
    pub scope: &'a Scope,
    pub users_variables: &'a BTreeSet<String>,
}

pub fn read(node: YamlNode, end: usize, around: &TriggerSource) -> TriggersOfConfig {
    let TriggerSource { tiers, source, tier, scope, users_variables } = *around;
    let own: Vec<&PolicyFolder> =
        tiers.project.iter().chain(&tiers.user).filter(|folder| folder.tier >= tier).collect();
    let guides = Guides::new(own, GUIDES);
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
