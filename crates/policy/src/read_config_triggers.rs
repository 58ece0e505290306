//! Reads the `triggers` of a configuration, after all names that they can use were declared.
//!
//! This is separate from [`crate::config`], because it depends on [`crate::actions`], which must not depend on the
//! configuration.

use std::collections::BTreeSet;

use engine::expr::Scope;
use engine::rules::Tier;

use crate::actions::{ActionReader, ActionSite, GUIDES, Guides, Templates};
use crate::config::ConfigTriggers;
use crate::files::folder::{PolicyFolder, Tiers};
use crate::files::inputs::Inputs;
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Source;
use crate::text::yaml::YamlNode;
use crate::unresolved_list::UnresolvedList;

pub struct ConfigTriggersReading {
    pub triggers: ConfigTriggers,
    /// The rules under `block_tools` in the triggers.
    pub block_tools_lists: Vec<UnresolvedList>,
    pub problems: Vec<Diagnostic>,
    /// The guides that were read, or looked up without success.
    pub inputs: Inputs<'static>,
}

/// The configuration with the triggers, and the names that they can use.
pub struct TriggerSource<'a> {
    pub tiers: &'a Tiers,
    pub source: &'a Source,
    pub tier: Tier,
    pub scope: &'a Scope,
    pub users_variables: &'a BTreeSet<String>,
}

pub fn read(node: YamlNode, end: usize, trigger_source: &TriggerSource) -> ConfigTriggersReading {
    let TriggerSource { tiers, source, tier, scope, users_variables } = *trigger_source;
    let folders: Vec<&PolicyFolder> =
        tiers.project.iter().chain(&tiers.user).filter(|folder| folder.tier >= tier).collect();
    let guides = Guides::new(folders, GUIDES);
    let (mut block_tools_lists, mut problems) = (Vec::new(), Vec::new());
    let mut templates = Templates::new(&guides, "the configuration".to_owned(), scope);
    let mut reader = ActionReader {
        site: ActionSite::Enter,
        source,
        tier,
        scope,
        users_variables,
        on_block_tools: &mut |list| block_tools_lists.push(list),
        templates: &mut templates,
        problems: &mut problems,
    };
    let triggers = reader.triggers(node, end);
    problems.append(&mut templates.problems);
    let triggers = ConfigTriggers { triggers, guides: templates.texts };
    ConfigTriggersReading { triggers, block_tools_lists, problems, inputs: guides.into_inputs() }
}
