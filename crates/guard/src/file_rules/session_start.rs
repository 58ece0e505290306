//! What was checked out when a session began, or when it last stopped with nothing left to do.
//!
//! A baseline is where the branch left the default branch. Whoever commits on a default branch without a remote, pushes
//! to it, or moves it, moves the baseline past the session's own work, which then would be no change. So a baseline that has
//! commits of the session in it is not compared with; what was there before these commits is.

use std::collections::BTreeSet;
use std::path::Path;

use engine::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::StateChanges;
use tree::{GitError, Made, Repository, Tree};

/// The variable of a session that has it.
const VARIABLE: &str = "_session_start";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// None before the first commit.
    commit: Option<String>,
    /// When the session began, in milliseconds since 1970; none where the first that was heard of it was that it stopped.
    began: Option<i64>,
    /// How long git's reflog of `HEAD` was: what is behind it was done since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log: Option<u64>,
}

/// What to compare with.
#[derive(Debug, PartialEq, Eq)]
pub struct EarlierBaseline {
    /// The commit in place of the baseline; none where the baseline is as good.
    pub commit: Option<String>,
    /// The commit that the session began with is gone.
    pub is_start_lost: bool,
}

impl SessionStart {
    /// What is checked out at a session's first event.
    pub fn at(event: &Event, root: &Path) -> Self {
        let began = (!event.kind.is_stop()).then_some(event.time);
        match Repository::of(root) {
            Some(repository) => Self { began, ..Self::now(&repository) },
            // If the session makes the repository, every commit in its reflog is the session's.
            None => Self { commit: None, began, log: Some(0) },
        }
    }

    /// What is checked out now, in the same session; `None` where that is what it was.
    pub fn moved(&self, root: &Path) -> Option<Self> {
        let repository = Repository::of(root)?;
        let now = Self { began: self.began, ..Self::now(&repository) };
        (now != *self).then_some(now)
    }

    fn now(repository: &Repository) -> Self {
        Self { commit: repository.head(), began: None, log: repository.log_length() }
    }

    pub fn began(&self) -> Option<i64> {
        self.began
    }

    /// What a session remembers. Those that began before this was written down have nothing.
    pub fn of(variables: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(variables.get(VARIABLE)?.clone()).ok()
    }

    pub fn remember(&self, changes: &mut StateChanges) {
        // Texts and numbers are always JSON.
        changes.set(VARIABLE, serde_json::to_value(self).unwrap_or_default());
    }

    /// What to compare with in place of a baseline that has commits of this session in it.
    pub fn before(&self, tree: &Tree, baseline: &str) -> Result<EarlierBaseline, GitError> {
        let head = tree.head();
        if self.commit == head || self.commit.as_deref() == Some(baseline) {
            return Ok(EarlierBaseline { commit: None, is_start_lost: false });
        }
        let start = self.commit.as_deref().map(|start| tree.commit(start)).transpose()?.flatten();
        let is_start_lost = start.is_none() && self.commit.is_some();
        if head.is_none() {
            // On a new branch without a commit, everything would be a change from nothing.
            return Ok(EarlierBaseline { commit: start, is_start_lost });
        }
        let own = tree.made_since(self.log, self.began);
        // Without a start and without a log, any commit could be the session's.
        if own.as_ref().map_or(is_start_lost, BTreeSet::is_empty) {
            return Ok(EarlierBaseline { commit: None, is_start_lost });
        }
        let history = tree.history(baseline, start.as_deref())?;
        let commit = match before_own(&history, own.as_ref()) {
            Before::AsGood => None,
            Before::Commit(commit) => Some(commit),
            Before::Nothing => Some(start.map_or_else(|| Ok(tree.nothing()?.id), Ok)?),
        };
        Ok(EarlierBaseline { commit, is_start_lost })
    }
}

/// What a history was before a session's own commits.
#[derive(Debug, PartialEq, Eq)]
enum Before {
    /// None of these commits is the session's.
    AsGood,
    Commit(String),
    /// The session's own commit is the first of all.
    Nothing,
}

/// `history`: children first. `own`: the commits that the session may have made; none: any of them. The newest commit that
/// none of these led to came from elsewhere; where there is none, what the first of these was made from.
fn before_own(history: &[Made], own: Option<&BTreeSet<String>>) -> Before {
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
        (None, _) => Before::AsGood,
        (Some(_), Some(made)) => Before::Commit(made.id.clone()),
        (Some(first), None) => first.parents.first().map_or(Before::Nothing, |parent| Before::Commit(parent.clone())),
    }
}
