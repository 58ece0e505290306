//! Finds the changed files that file rules judge.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use engine::file_rules::{AttributionMode, Baseline, ChangeScope, Changes};
use tree::{GitError, Tree, UnknownDefaultBranch};

use super::GIT_TIMEOUT;
use super::attribution::Attribution;
use super::baseline_id::BaselineId;
use super::prompt_baseline::PromptBaseline;
use super::session_baseline::SessionBaseline;
use crate::session::SessionNotice;

/// The notice if the commit that was checked out when the session began no longer exists.
const BASELINE_LOST: &str = "git no longer has the commit that this session began with, so file rules might miss work that was \
                          committed before it was removed. To see all of a branch: `linchpin check --base REF`";

/// The changes since a baseline.
#[derive(Debug, Clone)]
pub struct ChangedSince {
    pub changes: Arc<Changes>,
    /// The baseline of the changes. Two demands with different baselines are different, even if all else is equal.
    pub baseline_id: BaselineId,
}

/// The changes of a project's tree. They are computed when a rule first asks for them, once for each baseline.
pub struct ChangedFiles {
    root: PathBuf,
    default_branch: Option<String>,
    session_baseline: Option<SessionBaseline>,
    prompt_baseline: Option<PromptBaseline>,
    attribution: Attribution,
    /// True if an unknown default branch is an error. At a stop it is not, because comparing with `HEAD` is better than
    /// nothing.
    requires_default_branch: bool,
    tree: OnceLock<Option<Tree>>,
    by_baseline: Mutex<BTreeMap<Baseline, Option<ChangedSince>>>,
    by_scope: Mutex<BTreeMap<ChangeScope, Option<ChangedSince>>>,
    notices: Mutex<Vec<SessionNotice>>,
}

impl ChangedFiles {
    pub fn new(
        root: &Path,
        default_branch: Option<String>,
        session_baseline: Option<SessionBaseline>,
        prompt_baseline: Option<PromptBaseline>,
        attribution: Attribution,
    ) -> Self {
        Self {
            root: root.to_owned(),
            default_branch,
            session_baseline,
            prompt_baseline,
            attribution,
            requires_default_branch: false,
            tree: OnceLock::new(),
            by_baseline: Mutex::default(),
            by_scope: Mutex::default(),
            notices: Mutex::default(),
        }
    }

    /// The same changes; if `is_required` is true, an unknown default branch is an error.
    #[must_use]
    pub fn with_required_default_branch(self, is_required: bool) -> Self {
        Self { requires_default_branch: is_required, ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The changes in a scope; `None` if git failed. In that case a notice has the reason.
    pub fn in_scope(&self, change_scope: ChangeScope) -> Option<ChangedSince> {
        if let Some(cached) = self.by_scope.lock().ok()?.get(&change_scope) {
            return cached.clone();
        }
        let changed = self.since_baseline(change_scope.compare_to).map(|all| match change_scope.attribute {
            AttributionMode::Tree => all,
            AttributionMode::Session => {
                let attributed = self.attribution.attribute(&self.root, &all.changes);
                ChangedSince { changes: attributed.unwrap_or(all.changes), ..all }
            }
        });
        self.by_scope.lock().ok()?.insert(change_scope, changed.clone());
        changed
    }

    /// Returns the notices since the last call.
    pub fn take_notices(&self) -> Vec<SessionNotice> {
        self.notices.lock().map(|mut notices| std::mem::take(&mut *notices)).unwrap_or_default()
    }

    /// The changes since a baseline, not attributed to sessions; `None` if git failed.
    fn since_baseline(&self, baseline: Baseline) -> Option<ChangedSince> {
        if let Some(cached) = self.by_baseline.lock().ok()?.get(&baseline) {
            return cached.clone();
        }
        let changed = self.tree().and_then(|tree| match self.compare(tree, baseline) {
            Ok(changed) => Some(changed),
            Err(error) => {
                self.add_notice(SessionNotice::Always(format!("file rules were not judged: {error}")));
                None
            }
        });
        self.by_baseline.lock().ok()?.insert(baseline, changed.clone());
        changed
    }

    fn compare(&self, tree: &Tree, baseline: Baseline) -> Result<ChangedSince, GitError> {
        let default_branch = self.default_branch.as_deref();
        let commit = match baseline {
            Baseline::Base => tree.merge_base_with_default(default_branch)?,
            Baseline::DefaultTip => tree.default_tip(default_branch)?,
            Baseline::Prompt => return self.compare_to_prompt(tree),
        };
        if let Some(note) = commit.note {
            self.add_notice(SessionNotice::Once(note));
        }
        if let Some(UnknownDefaultBranch { why, help }) = commit.unknown_default {
            if self.requires_default_branch {
                return Err(GitError::Failed(why));
            }
            self.add_notice(SessionNotice::Once(format!(
                "{why}. File rules see only uncommitted changes and this session's commits, not the earlier work of the \
                 branch. To have them see all of it, {help}"
            )));
        }
        let earlier = self
            .session_baseline
            .as_ref()
            .map(|session_baseline| session_baseline.earlier_baseline(tree, &commit.id))
            .transpose()?;
        if earlier.as_ref().is_some_and(|earlier| earlier.is_commit_lost) {
            self.add_notice(SessionNotice::Once(BASELINE_LOST.to_owned()));
        }
        let baseline_id = match earlier.and_then(|earlier| earlier.commit) {
            // `check --staged` has no session, so it compares with `commit.id`. An answer is recorded for both
            // baselines, so that it also counts for `check --staged`.
            Some(earlier) => BaselineId { id: earlier, also: Some(commit.id) },
            None => BaselineId::from(commit.id),
        };
        let changes = Arc::new(tree.changes_since(&baseline_id.id)?);
        Ok(ChangedSince { changes, baseline_id })
    }

    fn compare_to_prompt(&self, tree: &Tree) -> Result<ChangedSince, GitError> {
        let snapshot = self.prompt_baseline.as_ref().map(|prompt_baseline| (prompt_baseline, prompt_baseline.read()));
        match snapshot {
            Some((prompt_baseline, Ok(snapshot))) => {
                let changes = Arc::new(snapshot.changes(tree)?);
                Ok(ChangedSince { changes, baseline_id: prompt_baseline.baseline_id.clone().into() })
            }
            Some((_, Err(_))) | None => {
                self.add_notice(SessionNotice::Once(
                    "there is no snapshot of the tree from the last prompt, so rules with `compare_to: prompt` compare with the base of the branch instead"
                        .to_owned(),
                ));
                self.since_baseline(Baseline::Base).ok_or_else(|| GitError::Failed("no base of the branch".to_owned()))
            }
        }
    }

    /// The tree; `None` outside of git.
    fn tree(&self) -> Option<&Tree> {
        let tree = self.tree.get_or_init(|| {
            let tree = Tree::of(&self.root, GIT_TIMEOUT);
            match &tree {
                None => {
                    self.add_notice(SessionNotice::Once(
                        "file rules are off here: this is not a git repository".to_owned(),
                    ));
                }
                Some(tree) if !tree.disabled_filters().is_empty() => self.add_notice(SessionNotice::Once(format!(
                    "the repository's git configuration has filters, which Linchpin does not run: {}",
                    tree.disabled_filters().join(", ")
                ))),
                Some(_) => {}
            }
            tree
        });
        tree.as_ref()
    }

    /// Adds a notice, unless the same notice was added before.
    fn add_notice(&self, notice: SessionNotice) {
        if let Ok(mut notices) = self.notices.lock()
            && !notices.contains(&notice)
        {
            notices.push(notice);
        }
    }
}
