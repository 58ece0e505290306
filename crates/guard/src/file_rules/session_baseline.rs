//! The commit that was checked out when a session began, or when it last stopped with all demands met.
//!
//! The usual baseline is the merge base with the default branch. If a session commits on a default branch without a
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

/// The baseline to use in place of the usual one.
#[derive(Debug, PartialEq, Eq)]
pub struct EarlierBaseline {
    /// The commit to compare with; `None` if the usual baseline is fine.
    pub commit: Option<String>,
    /// True if the commit that the session began with no longer exists.
    pub is_start_lost: bool,
}

impl SessionBaseline {
    /// The state at a session's first event.
    pub fn at(event: &Event, root: &Path) -> Self {
        let began = (!event.kind.is_stop()).then_some(event.time);
        match Repository::of(root) {
            Some(repository) => Self { began, ..Self::now(&repository) },
            // If the repository does not exist yet, every commit in its later reflog is the session's.
            None => Self { commit: None, began, log: Some(0) },
        }
    }

    /// The current state; `None` if it has not changed.
    pub fn moved(&self, root: &Path) -> Option<Self> {
        let repository = Repository::of(root)?;
        let now = Self { began: self.began, ..Self::now(&repository) };
        (now != *self).then_some(now)
    }

    fn now(repository: &Repository) -> Self {
        Self { commit: repository.head(), began: None, log: repository.reflog_length() }
    }

    pub fn began(&self) -> Option<i64> {
        self.began
    }

    /// The stored start; `None` for sessions of earlier versions.
    pub fn of(variables: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(variables.get(VARIABLE)?.clone()).ok()
    }

    pub fn remember(&self, changes: &mut StateChanges) {
        // Strings and numbers always serialize.
        changes.set(VARIABLE, serde_json::to_value(self).unwrap_or_default());
    }

    /// The baseline to use if `baseline` contains commits of this session.
    pub fn before(&self, tree: &Tree, baseline: &str) -> Result<EarlierBaseline, GitError> {
        let head = tree.head();
        if self.commit == head || self.commit.as_deref() == Some(baseline) {
            return Ok(EarlierBaseline { commit: None, is_start_lost: false });
        }
        let start = self.commit.as_deref().map(|start| tree.commit(start)).transpose()?.flatten();
        let is_start_lost = start.is_none() && self.commit.is_some();
        if head.is_none() {
            // On a new branch without commits, all files would otherwise count as changed.
            return Ok(EarlierBaseline { commit: start, is_start_lost });
        }
        let own = tree.commits_made_since(self.log, self.began);
        // Without a start commit and without a reflog, any commit may be the session's.
        if own.as_ref().map_or(is_start_lost, BTreeSet::is_empty) {
            return Ok(EarlierBaseline { commit: None, is_start_lost });
        }
        let history = tree.history(baseline, start.as_deref())?;
        let commit = match before_own(&history, own.as_ref()) {
            Before::NoOwnCommits => None,
            Before::Commit(commit) => Some(commit),
            Before::Nothing => Some(start.map_or_else(|| Ok(tree.empty_tree()?.id), Ok)?),
        };
        Ok(EarlierBaseline { commit, is_start_lost })
    }
}

/// The state of a history before the session's own commits.
#[derive(Debug, PartialEq, Eq)]
enum Before {
    /// The history has no commits of the session.
    NoOwnCommits,
    Commit(String),
    /// The session made the first commit of the history.
    Nothing,
}

/// The newest commit without an own commit among its ancestors, else the parent of the oldest own commit. `history` is
/// sorted children first. `own` has the commits that the session may have made; `None` means that it may have made any
/// of them.
fn before_own(history: &[CommitWithParents], own: Option<&BTreeSet<String>>) -> Before {
    let mut led_to: BTreeSet<&str> = BTreeSet::new();
    let (mut elsewhere, mut first) = (None, None);
    for made in history.iter().rev() {
        let is_own = own.is_none_or(|own| own.contains(&made.id));
        if is_own || made.parents.iter().any(|parent| led_to.contains(parent.as_str())) {
            led_to.insert(&made.id);
            first = first.or(Some(made));
        } else {
            elsewhere = Some(made);
        }
    }
    match (first, elsewhere) {
        (None, _) => Before::NoOwnCommits,
        (Some(_), Some(made)) => Before::Commit(made.id.clone()),
        (Some(first), None) => first.parents.first().map_or(Before::Nothing, |parent| Before::Commit(parent.clone())),
    }
}

#[cfg(test)]
mod tests;
