//! A git working tree: where it stands, and what changed in it since a baseline.
//!
//! [`Repository`] reads git's own small files, as a hook has no time for a process. [`Tree`] asks `git`, which is right in
//! every odd case, and never touches the person's index, stash or objects. Nothing here knows rules, sessions or agents.

mod contents;
mod difference;
mod fingerprint;
mod git;
mod head_log;
mod repository;
mod similarity;
mod snapshot;
mod status;
mod tree;

#[cfg(test)]
mod tests;

pub use contents::Contents;
pub use fingerprint::{content, fingerprint};
pub use git::GitError;
pub use repository::Repository;
pub use snapshot::Snapshot;
pub use tree::{Commit, Made, Tree, UnknownDefault};
