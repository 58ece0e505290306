//! Checks whether file rules can determine what changed: whether there is a git repository, and the default branch that
//! they compare with.

use std::time::Duration;

use engine::file_rules::Baseline;
use engine::rules::Rule;
use guard::Project;
use policy::Config;
use tree::{Tree, UnknownDefaultBranch};

/// The time limit for git. It is longer than in hooks, because no agent waits.
const GIT_LIMIT: Duration = Duration::from_secs(10);

/// If there are file rules but no git repository, the note that says so.
pub fn missing_repository<'r>(project: &Project, rules: impl IntoIterator<Item = &'r Rule>) -> Option<String> {
    rules.into_iter().find(|rule| rule.as_file_rule().is_some())?;
    let root = project.root.display();
    Tree::of(&project.root, GIT_LIMIT)
        .is_none()
        .then(|| format!("file rules are off: {root} is not in a git repository"))
}

/// If the default branch is unknown and a rule's files are compared with it, returns the reason and what to do.
pub fn unknown_default_branch<'r>(
    project: &Project,
    config: &Config,
    rules: impl IntoIterator<Item = &'r Rule>,
) -> Option<UnknownDefaultBranch> {
    let mut file_rules = rules.into_iter().filter_map(Rule::as_file_rule);
    file_rules.find(|file| file.scope.compare_to != Baseline::Prompt)?;
    let tree = Tree::of(&project.root, GIT_LIMIT)?;
    // Errors of git itself are reported when the changes are read.
    tree.default_tip(config.branches.default.as_deref()).ok()?.unknown_default
}
