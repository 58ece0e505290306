//! The commit that was checked out when a session began, or when it last stopped with all demands met.
//!
//! The default baseline is the merge base with the default branch. If a session commits on a default branch without a
//! remote, pushes to the default branch, or moves it, the merge base includes the session's own commits, and they no
//! longer count as changes. So if the baseline contains commits of the session, changes are compared with the state
//! before these commits.

use std::collections::BTreeSet;
use std::path::Path;

use engine::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::StateChanges;
use tree::{CommitWithParents, GitError, Repository, Tree};

use crate::position::{Position, Visit};

/// The session variable that stores the [`SessionBaseline`].
const VARIABLE: &str = "_session_start";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBaseline {
    /// `None` before the first commit.
    commit: Option<String>,
    /// The session's start in milliseconds since 1970; `None` if its first event was a stop.
    began: Option<i64>,
    /// The length of the reflog of `HEAD`. Later lines of the reflog were written during the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log: Option<u64>,
}

/// The baseline to use in place of the default one.
#[derive(Debug, PartialEq, Eq)]
pub struct EarlierBaseline {
    /// The commit to compare with; `None` if the default baseline is fine.
    pub commit: Option<String>,
    /// True if the commit of the session's baseline no longer exists.
    pub is_commit_lost: bool,
}

impl SessionBaseline {
    /// The state at a session's first event.
    pub fn at(event: &Event, root: &Path) -> Self {
        let began = (!event.kind.is_stop()).then_some(event.time);
        match Repository::of(root) {
            Some(repository) => Self { began, ..Self::current(&repository) },
            // If the repository does not exist yet, every commit in its later reflog is the session's.
            None => Self { commit: None, began, log: Some(0) },
        }
    }

    /// The current state with the same start time; `None` if nothing has changed.
    pub fn if_changed(&self, root: &Path) -> Option<Self> {
        let repository = Repository::of(root)?;
        let current = Self { began: self.began, ..Self::current(&repository) };
        (current != *self).then_some(current)
    }

    /// The state at the workflow's start, for moves of an unknown session; `None` if an earlier version started it.
    pub fn of_workflow(position: &Position) -> Option<Self> {
        let Visit { head, reflog, started, .. } = position.history.first()?;
        Some(Self { commit: head.clone(), began: Some(*started), log: Some((*reflog)?) })
    }

    fn current(repository: &Repository) -> Self {
        Self { commit: repository.head(), began: None, log: repository.reflog_length() }
    }

    pub fn began(&self) -> Option<i64> {
        self.began
    }

    /// The stored baseline; `None` for sessions of earlier versions.
    pub fn stored(variables: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(variables.get(VARIABLE)?.clone()).ok()
    }

    pub fn store(&self, changes: &mut StateChanges) {
        // Strings and numbers always serialize.
        changes.set(VARIABLE, serde_json::to_value(self).unwrap_or_default());
    }

    /// The baseline to use if `baseline` contains commits of this session.
    pub fn earlier_baseline(&self, tree: &Tree, baseline: &str) -> Result<EarlierBaseline, GitError> {
        let head = tree.head();
        if self.commit == head || self.commit.as_deref() == Some(baseline) {
            return Ok(EarlierBaseline { commit: None, is_commit_lost: false });
        }
        let start = self.commit.as_deref().map(|start| tree.resolve_commit(start)).transpose()?.flatten();
        let is_commit_lost = start.is_none() && self.commit.is_some();
        if head.is_none() {
            // On a new branch without commits, all files would otherwise count as changed.
            return Ok(EarlierBaseline { commit: start, is_commit_lost });
        }
        let own_commits = tree.commits_made_since(self.log, self.began);
        // Without a start commit and without a reflog, any commit may be the session's.
        if own_commits.as_ref().map_or(is_commit_lost, BTreeSet::is_empty) {
            return Ok(EarlierBaseline { commit: None, is_commit_lost });
        }
        let history = tree.history(baseline, start.as_deref())?;
        let commit = match state_before_own_commits(&history, own_commits.as_ref()) {
            StateBefore::NoOwnCommits => None,
            StateBefore::Commit(commit) => Some(commit),
            StateBefore::Nothing => Some(start.map_or_else(|| Ok(tree.empty_tree()?.id), Ok)?),
        };
        Ok(EarlierBaseline { commit, is_commit_lost })
    }
}

/// The state of a history before the session's own commits.
#[derive(Debug, PartialEq, Eq)]
enum StateBefore {
    /// The history has no commits of the session.
    NoOwnCommits,
    Commit(String),
    /// The session made the first commit of the history.
    Nothing,
}

/// The newest commit without an own commit among its ancestors, else the parent of the oldest own commit. `history` is
/// sorted children first. `own` has the commits that the session may have made; `None` means that it may have made any
/// of them.
fn state_before_own_commits(history: &[CommitWithParents], own: Option<&BTreeSet<String>>) -> StateBefore {
    let mut own_or_later: BTreeSet<&str> = BTreeSet::new();
    let (mut newest_of_others, mut oldest_own) = (None, None);
    for commit in history.iter().rev() {
        let is_own = own.is_none_or(|own| own.contains(&commit.id));
        if is_own || commit.parents.iter().any(|parent| own_or_later.contains(parent.as_str())) {
            own_or_later.insert(&commit.id);
            oldest_own = oldest_own.or(Some(commit));
        } else {
            newest_of_others = Some(commit);
        }
    }
    match (oldest_own, newest_of_others) {
        (None, _) => StateBefore::NoOwnCommits,
        (Some(_), Some(commit)) => StateBefore::Commit(commit.id.clone()),
        (Some(oldest), None) => {
            oldest.parents.first().map_or(StateBefore::Nothing, |parent| StateBefore::Commit(parent.clone()))
        }
    }
}

#[cfg(test)]
mod tests;
