//! A git working tree: its branch and commit, and its changes since a baseline.
//!
//! [`Repository`] reads git's own small files, because a hook has no time to start a process. [`Tree`] runs `git`,
//! which handles every special case, and never changes the person's index, stash or objects. This crate does not know
//! rules, sessions or agents.

mod contents;
mod fingerprint;
mod git;
mod raw_diff;
mod reflog;
mod rename_detection;
mod repository;
mod snapshot;
mod status;
mod tree;

#[cfg(test)]
mod tests;

pub use contents::TreeContents;
pub use fingerprint::{Fingerprints, fingerprint};
pub use git::GitError;
pub use repository::Repository;
pub use snapshot::Snapshot;
pub use tree::{BaselineCommit, CommitWithParents, Tree, UnknownDefaultBranch};
