//! The commit that was checked out when a session began, or when it last stopped with no open demand.
//!
//! By default, changes are compared with the merge base with the default branch. If a session commits on a default
//! branch without a remote, pushes to the default branch, or moves it, the merge base contains the session's own
//! commits, and they do not count as changes. So if the default baseline contains commits of the session, changes are
//! compared with the state before these commits.
//!
//! A nested policy may be in another repository than the session's root, as in a submodule. Such a repository has a
//! baseline of its own, which is stored when the session stops with its file rules met. Until then, all commits that
//! were made there since the session began count as made by the session.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::StateChanges;
use tree::{CommitWithParents, GitError, Repository, Tree};

use crate::position::{PhaseRecord, Position};

/// The session variable that stores the [`SessionBaseline`] of the repository of the session's root. For any other
/// repository, a colon and the repository's id follow.
const VARIABLE: &str = "_session_start";

/// The state of a repository at a time in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBaseline {
    /// `HEAD`; `None` before the repository's first commit.
    commit: Option<String>,
    /// The session's start in milliseconds since 1970; `None` if its first event was a stop.
    began: Option<i64>,
    /// The length of the reflog of `HEAD` at this time; `None` if it is unknown. The entries beyond this length were
    /// written later in the session.
    #[serde(default, rename = "log", skip_serializing_if = "Option::is_none")]
    reflog_length: Option<u64>,
    /// The id of the repository; `None` for the baseline of a workflow, and for one that an earlier version of
    /// Linchpin stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    /// True if the state of the repository is unknown, and only the time at which the session began is known.
    #[serde(skip)]
    is_start_unknown: bool,
}

/// Whether changes must be compared with an earlier commit than the default baseline.
#[derive(Debug, PartialEq, Eq)]
pub struct EarlierBaseline {
    /// The earlier commit; `None` if the default baseline is used.
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
            // There is no repository yet. If one is created later, its whole reflog was written during the session.
            None => Self { commit: None, began, reflog_length: Some(0), ..Self::unknown(repository_id(root)) },
        }
    }

    fn unknown(repository: String) -> Self {
        Self { commit: None, began: None, reflog_length: None, repository: Some(repository), is_start_unknown: false }
    }

    /// The baseline for the state of the repository now, with the same start of the session; `None` if the state has
    /// not changed.
    pub fn updated(&self, root: &Path) -> Option<Self> {
        let repository = Repository::of(root)?;
        let current = Self { began: self.began, ..Self::current(&repository) };
        (current != *self).then_some(current)
    }

    /// The state at the first recorded phase of a workflow, for moves whose session is unknown; `None` if an earlier
    /// version of Linchpin started the workflow.
    pub fn of_workflow(position: &Position) -> Option<Self> {
        let PhaseRecord { head, reflog, started, .. } = position.history.first()?;
        Some(Self {
            commit: head.clone(),
            began: Some(*started),
            reflog_length: Some((*reflog)?),
            repository: None,
            is_start_unknown: false,
        })
    }

    /// The state of the repository now, without the session's start.
    fn current(repository: &Repository) -> Self {
        Self {
            commit: repository.head(),
            reflog_length: repository.reflog_length(),
            ..Self::unknown(id_of(repository.git_dir()))
        }
    }

    /// The session's start in milliseconds since 1970; `None` if it is unknown.
    pub fn began(&self) -> Option<i64> {
        self.began
    }

    /// The stored baseline of the repository that contains `root`; `None` for sessions of earlier versions of
    /// Linchpin.
    pub fn stored(variables: &Map<String, Value>, root: &Path) -> Option<Self> {
        let of_session_root = Self::read(variables, VARIABLE)?;
        let repository = repository_id(root);
        if of_session_root.is_of(&repository) {
            return Some(of_session_root);
        }
        let began = of_session_root.began;
        Self::read(variables, &variable_of(&repository)).or(Some(Self {
            began,
            is_start_unknown: true,
            ..Self::unknown(repository)
        }))
    }

    fn read(variables: &Map<String, Value>, name: &str) -> Option<Self> {
        serde_json::from_value(variables.get(name)?.clone()).ok()
    }

    fn is_of(&self, repository: &str) -> bool {
        self.repository.as_deref().is_none_or(|own| own == repository)
    }

    /// Adds this baseline to the changes of the session's variables. `variables` has the stored variables.
    pub fn add_to(&self, variables: &Map<String, Value>, changes: &mut StateChanges) {
        let of_session_root = Self::read(variables, VARIABLE);
        let is_of_session_root =
            |repository: &str| of_session_root.as_ref().is_none_or(|baseline| baseline.is_of(repository));
        let name = match &self.repository {
            Some(repository) if !is_of_session_root(repository) => variable_of(repository),
            _ => VARIABLE.to_owned(),
        };
        // Strings and numbers can always be serialized.
        changes.set(name, serde_json::to_value(self).unwrap_or_default());
    }

    /// The commit to compare with in place of `default_baseline`, if the default baseline contains commits of this
    /// session.
    pub fn earlier_baseline(&self, tree: &Tree, default_baseline: &str) -> Result<EarlierBaseline, GitError> {
        let head = tree.head();
        let has_no_new_commit = self.commit == head;
        if has_no_new_commit || self.commit.as_deref() == Some(default_baseline) {
            return Ok(EarlierBaseline { commit: None, is_commit_lost: false });
        }
        let start = self.commit.as_deref().map(|start| tree.resolve_commit(start)).transpose()?.flatten();
        let is_commit_lost = start.is_none() && self.commit.is_some();
        if head.is_none() {
            // On a new branch without commits, all files would otherwise count as changed.
            return Ok(EarlierBaseline { commit: start, is_commit_lost });
        }
        // `None` if there is no reflog. In that case the session may have made any commit.
        let own_commits = if self.is_start_unknown {
            Some(self.commits_since_began(tree))
        } else {
            tree.commits_made_since(self.reflog_length, self.began)
        };
        // Without a reflog, the commits after the start commit count as the session's. If the start commit is lost, it
        // is unknown which commits these are.
        let has_no_known_commits = own_commits.as_ref().map_or(is_commit_lost, BTreeSet::is_empty);
        if has_no_known_commits {
            return Ok(EarlierBaseline { commit: None, is_commit_lost });
        }
        let history = tree.history(default_baseline, start.as_deref())?;
        let commit = match state_before_own_commits(&history, own_commits.as_ref()) {
            StateBefore::NoOwnCommits => None,
            StateBefore::Commit(commit) => Some(commit),
            StateBefore::Nothing => Some(start.map_or_else(|| Ok(tree.empty_tree()?.id), Ok)?),
        };
        Ok(EarlierBaseline { commit, is_commit_lost })
    }

    /// The commits that were made in the tree's repository since the session began; none if it is unknown when the
    /// session began.
    fn commits_since_began(&self, tree: &Tree) -> BTreeSet<String> {
        let repository = Repository::of(tree.root()).zip(self.began);
        repository.map(|(repository, began)| repository.commits_made_elsewhere_since(began)).unwrap_or_default()
    }
}

/// The id of the repository that contains `root`, or that `git init` would create there.
pub fn repository_id(root: &Path) -> String {
    Repository::of(root).map_or_else(|| id_of(&root.join(".git")), |repository| id_of(repository.git_dir()))
}

/// The id of the repository with this git directory. Each linked working tree has a git directory of its own.
fn id_of(git_dir: &Path) -> String {
    let real: PathBuf = git_dir.canonicalize().unwrap_or_else(|_| git_dir.to_owned());
    policy::digest(real.as_os_str().as_encoded_bytes())
}

fn variable_of(repository: &str) -> String {
    format!("{VARIABLE}:{repository}")
}

/// The state before the session's own commits in a history.
#[derive(Debug, PartialEq, Eq)]
enum StateBefore {
    /// The history has no commits of the session.
    NoOwnCommits,
    Commit(String),
    /// The session made the first commit of the history, so there is no state before it.
    Nothing,
}

/// The newest commit that is not the session's and has no commit of the session among its ancestors. If there is none,
/// the parent of the session's oldest commit. `history` is sorted children first. `own` has the commits that the
/// session may have made; `None` means that it may have made any commit.
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
