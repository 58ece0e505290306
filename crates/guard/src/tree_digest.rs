//! A digest of the files in a working tree: receipts and approvals of gates are valid for one state of the tree, and an
//! iteration of a run is compared with the one before.

use std::path::Path;
use std::time::Duration;

use tree::{GitError, Tree, TreeContents};

/// The time limit of one git call for a digest.
const TREE_DIGEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The digest of the tree; `None` without git.
pub fn tree_digest(root: &Path) -> Result<Option<String>, GitError> {
    Ok(tree_contents(root)?.map(|contents| contents.digest()))
}

pub(crate) fn tree_contents(root: &Path) -> Result<Option<TreeContents>, GitError> {
    Tree::of(root, TREE_DIGEST_TIMEOUT).map(|tree| tree.contents()).transpose()
}
