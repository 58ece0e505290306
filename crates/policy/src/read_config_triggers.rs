//! Reads the `triggers` of a configuration, after all names that they can use were declared.
//!
//! This is separate from [`crate::config`], because it depends on [`crate::actions`], which must not depend on the
//! configuration.

use std::collections::BTreeSet;

use engine::expr::Scope;
use engine::rules::Tier;

use crate::actions::{ActionReader, ActionSite, GUIDES, Guides, Templates};
use crate::config::ConfigTriggers;
use crate::files::folder::{PolicyFolder, PolicyFolders};
use crate::files::inputs::Inputs;
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Source;
use crate::text::yaml::YamlNode;
use crate::unresolved_list::UnresolvedList;

/// The result of reading the triggers of one configuration.
pub struct ParsedConfigTriggers {
    pub triggers: ConfigTriggers,
    /// The rules under `block_tools` in the triggers.
    pub block_tools_lists: Vec<UnresolvedList>,
    pub problems: Vec<Diagnostic>,
    /// Every file that a guide was looked up in, whether or not it exists.
    pub inputs: Inputs<'static>,
}

/// The configuration that contains the triggers, and the names that the triggers can use.
pub struct TriggerContext<'a> {
    pub tiers: &'a PolicyFolders,
    pub source: &'a Source,
    pub tier: Tier,
    pub scope: &'a Scope,
    pub users_variables: &'a BTreeSet<String>,
}

pub fn read(node: YamlNode, end: usize, context: &TriggerContext) -> ParsedConfigTriggers {
    let TriggerContext { tiers, source, tier, scope, users_variables } = *context;
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
    let triggers = reader.read_triggers(node, end);
    problems.append(&mut templates.problems);
    let triggers = ConfigTriggers { triggers, guides: templates.texts };
    ParsedConfigTriggers { triggers, block_tools_lists, problems, inputs: guides.into_inputs() }
}
