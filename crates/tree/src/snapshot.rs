//! A snapshot of a working tree: its commit, and fingerprints of the files that differed from it.

use std::collections::BTreeMap;

use engine::file_rules::{Change, Changes, Status};
use serde::{Deserialize, Serialize};

use crate::fingerprint::fingerprint;
use crate::git::GitError;
use crate::tree::Tree;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The time of the snapshot, in the format that is shown to people.
    pub timestamp: String,
    /// The commit that was checked out; `None` before the first commit.
    pub commit: Option<String>,
    pub staged_files: Vec<String>,
    pub untracked_files: Vec<String>,
    /// The fingerprint of every file that differed from the commit.
    #[serde(rename = "contents")]
    pub fingerprints: BTreeMap<String, String>,
}

impl Snapshot {
    pub fn take(tree: &Tree, timestamp: String) -> Result<Self, GitError> {
        let commit = tree.head();
        let fingerprints = fingerprints_since(tree, commit.as_deref())?;
        let (staged_files, untracked_files) = (tree.staged_files()?, tree.untracked_files()?);
        Ok(Self { timestamp, commit, staged_files, untracked_files, fingerprints })
    }

    /// Returns the fingerprint of every file that differs from the checked-out commit.
    pub fn current_fingerprints(tree: &Tree) -> Result<BTreeMap<String, String>, GitError> {
        fingerprints_since(tree, tree.head().as_deref())
    }

    /// Returns the changes since the snapshot was taken. Files that differ from the snapshot's commit, but were the
    /// same when it was taken, are not included.
    pub fn changes(&self, tree: &Tree) -> Result<Changes, GitError> {
        let changes = tree.changes_since(&commit_or_empty_tree(tree, self.commit.as_deref())?)?;
        let dirty_before = self.fingerprints.iter().filter_map(|(path, before)| {
            let after = fingerprint(&tree.root().join(path));
            let status = match (before.as_str(), after.as_str()) {
                (before, after) if before == after => return None,
                ("gone", _) => Status::Added,
                (_, "gone") => Status::Deleted,
                _ => Status::Modified,
            };
            Some(Change { status, path: path.clone() })
        });
        let others = changes.iter().filter(|(path, _)| !self.fingerprints.contains_key(*path));
        let others = others.map(|(path, status)| Change { status, path: path.to_owned() });
        Ok(others.chain(dirty_before).collect())
    }
}

fn fingerprints_since(tree: &Tree, commit: Option<&str>) -> Result<BTreeMap<String, String>, GitError> {
    let changes = tree.changes_since(&commit_or_empty_tree(tree, commit)?)?;
    Ok(changes.paths().map(|path| (path.to_owned(), fingerprint(&tree.root().join(path)))).collect())
}

fn commit_or_empty_tree(tree: &Tree, commit: Option<&str>) -> Result<String, GitError> {
    commit.map_or_else(|| tree.empty_tree().map(|commit| commit.id), |id| Ok(id.to_owned()))
}
