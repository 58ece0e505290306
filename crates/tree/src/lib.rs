//! A git working tree: its branch and commit, and what changed in it since a baseline.
//!
//! [`Repository`] reads git's own small files, as a hook has no time to start a process. [`Tree`] runs `git`, which
//! handles every special case, and never changes the person's index, stash or objects. Nothing here knows rules,
//! sessions or agents.

mod contents;
mod fingerprint;
mod git;
mod raw_diff;
mod reflog;
mod repository;
mod similarity;
mod snapshot;
mod status;
mod tree;

#[cfg(test)]
mod tests;

pub use contents::TreeContents;
pub use fingerprint::{combined_fingerprint, fingerprint};
pub use git::GitError;
pub use repository::Repository;
pub use snapshot::Snapshot;
pub use tree::{Commit, CommitWithParents, Tree, UnknownDefault};
