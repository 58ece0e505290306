//! A digest of the files in a working tree. Receipts and approvals of gates contain the digest, because they are valid
//! for one state of the tree. In a run, the digests before and after an iteration show whether it changed anything.

use std::path::Path;
use std::time::Duration;

use tree::{GitError, Tree, TreeContents};

/// The time limit of one git call for a digest.
const TREE_DIGEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The digest of the tree; `None` without git.
pub fn tree_digest(root: &Path) -> Result<Option<String>, GitError> {
    Ok(tree_contents(root)?.map(|contents| contents.digest()))
}

/// The contents of the tree; `None` without git.
pub(crate) fn tree_contents(root: &Path) -> Result<Option<TreeContents>, GitError> {
    Tree::of(root, TREE_DIGEST_TIMEOUT).map(|tree| tree.contents()).transpose()
}
