//! A digest of the files of a working tree: whether an iteration changed anything.

use std::path::Path;
use std::time::Duration;

use tree::Tree;

/// Git may take so long.
const GIT_LIMIT: Duration = Duration::from_secs(30);

/// None outside of git, and where git does not answer.
pub fn tree_digest(root: &Path) -> Option<String> {
    Tree::of(root, GIT_LIMIT).and_then(|tree| tree.digest().ok())
}
