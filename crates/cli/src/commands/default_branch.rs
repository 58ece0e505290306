//! Whether file rules know the branch that they compare with.

use std::time::Duration;

use engine::file_rules::Baseline;
use engine::rules::Rule;
use guard::Project;
use policy::Config;
use tree::{Tree, UnknownDefault};

/// Nobody waits for an agent here.
const GIT_LIMIT: Duration = Duration::from_secs(10);

/// Why not, and what to do, where a rule is judged by the default branch.
pub fn unknown<'r>(
    project: &Project,
    config: &Config,
    rules: impl IntoIterator<Item = &'r Rule>,
) -> Option<UnknownDefault> {
    let mut file_rules = rules.into_iter().filter_map(Rule::as_file_rule);
    file_rules.find(|file| file.scope.compare_to != Baseline::Prompt)?;
    let tree = Tree::of(&project.root, GIT_LIMIT)?;
    // What is wrong with git itself is told where it is asked for changes.
    tree.default_tip(config.branches.default.as_deref()).ok()?.unknown
}
