//! A digest of a working tree's files, to see whether an iteration changed anything.

use std::path::Path;
use std::time::Duration;

use tree::Tree;

/// The time limit of git.
const GIT_LIMIT: Duration = Duration::from_secs(30);

/// `None` outside of git, and if git fails.
pub fn tree_digest(root: &Path) -> Option<String> {
    Tree::of(root, GIT_LIMIT).and_then(|tree| tree.digest().ok())
}
