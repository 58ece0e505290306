//! What was checked out when a session began, or when it last stopped with nothing left to do.
//!
//! On a default branch without a remote, the base of the branch is what is checked out, and work that is committed before the
//! stop would be no change from it. This is what it is compared with instead.

use std::path::Path;

use engine::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::Changes;
use tree::{GitError, Repository, Tree};

/// The variable of a session that has it.
const VARIABLE: &str = "_session_start";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// None before the first commit.
    commit: Option<String>,
    /// None where `HEAD` was detached.
    branch: Option<String>,
    /// When the session began, in milliseconds since 1970; none where the first that was heard of it was that it stopped.
    began: Option<i64>,
}

impl SessionStart {
    /// What is checked out at a session's first event; `None` outside of git.
    pub fn at(event: &Event, root: &Path) -> Option<Self> {
        let repository = Repository::of(root)?;
        let began = (!event.kind.is_stop()).then_some(event.time);
        Some(Self { commit: repository.head(), branch: repository.branch(), began })
    }

    /// What is checked out now, in the same session; `None` where that is what it was.
    pub fn moved(&self, root: &Path) -> Option<Self> {
        let repository = Repository::of(root)?;
        let now = Self { commit: repository.head(), branch: repository.branch(), began: self.began };
        (now != *self).then_some(now)
    }

    pub fn began(&self) -> Option<i64> {
        self.began
    }

    /// What a session remembers. Those that began before this was written down have nothing.
    pub fn of(variables: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(variables.get(VARIABLE)?.clone()).ok()
    }

    pub fn remember(&self, changes: &mut Changes) {
        // A structure of two texts is always JSON.
        changes.set(VARIABLE, serde_json::to_value(self).unwrap_or_default());
    }

    /// The commit to compare with in place of `head`. `None` where nothing was committed since, or where another line of work
    /// was checked out, of which the session did not make the difference.
    pub fn before(&self, tree: &Tree, head: &str) -> Result<Option<String>, GitError> {
        let is_same_branch = self.branch.is_some() && self.branch == tree.branch();
        match &self.commit {
            None if is_same_branch => Ok(Some(tree.nothing()?.id)),
            Some(start) if start != head && tree.commit(start)?.is_some() => {
                let counts = is_same_branch || tree.is_ancestor(start, head)?;
                Ok(counts.then(|| start.clone()))
            }
            _ => Ok(None),
        }
    }
}
