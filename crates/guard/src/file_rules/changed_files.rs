//! The changed files that file rules judge for a session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use engine::file_rules::{AttributionMode, Baseline, ChangeScope, Changes};
use tree::{GitError, Tree, UnknownDefaultBranch};

use super::GIT_TIMEOUT;
use super::attribution::Attribution;
use super::prompt_baseline::PromptBaseline;
use super::queue::BaselineName;
use super::session_baseline::SessionBaseline;
use crate::session::SessionNotice;

const BASELINE_LOST: &str = "git no longer has the commit that this session began with, so file rules might miss work that was \
                          committed before it was removed. To see all of a branch: `linchpin check --base REF`";

/// Changes and their baseline.
#[derive(Debug, Clone)]
pub struct ChangedSince {
    pub changes: Arc<Changes>,
    /// The baseline's name. Demands against another baseline are new demands.
    pub baseline_name: BaselineName,
}

/// The changes of a project's tree. Computed on demand, once per baseline.
pub struct ChangedFiles {
    root: PathBuf,
    default_branch: Option<String>,
    session_baseline: Option<SessionBaseline>,
    prompt_baseline: Option<PromptBaseline>,
    attribution: Attribution,
    /// True if the comparison fails when the default branch is unknown. At a stop it does not fail, because comparing
    /// with `HEAD` is better than nothing.
    needs_default_branch: bool,
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
            needs_default_branch: false,
            tree: OnceLock::new(),
            by_baseline: Mutex::default(),
            by_scope: Mutex::default(),
            notices: Mutex::default(),
        }
    }

    #[must_use]
    pub fn with_required_default_branch(self, is_needed: bool) -> Self {
        Self { needs_default_branch: is_needed, ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The changes in a scope; `None` if git failed. A notice then has the reason.
    pub fn since(&self, change_scope: ChangeScope) -> Option<ChangedSince> {
        if let Some(cached) = self.by_scope.lock().ok()?.get(&change_scope) {
            return cached.clone();
        }
        let found = self.since_baseline(change_scope.compare_to).map(|all| match change_scope.attribute {
            AttributionMode::Tree => all,
            AttributionMode::Session => {
                let attributed = self.attribution.attribute(&self.root, &all.changes);
                ChangedSince { changes: attributed.unwrap_or(all.changes), ..all }
            }
        });
        self.by_scope.lock().ok()?.insert(change_scope, found.clone());
        found
    }

    /// Returns the notices since the last call.
    pub fn take_notices(&self) -> Vec<SessionNotice> {
        self.notices.lock().map(|mut notices| std::mem::take(&mut *notices)).unwrap_or_default()
    }

    fn since_baseline(&self, baseline: Baseline) -> Option<ChangedSince> {
        if let Some(cached) = self.by_baseline.lock().ok()?.get(&baseline) {
            return cached.clone();
        }
        let found = self.tree().and_then(|tree| match self.compare(tree, baseline) {
            Ok(found) => Some(found),
            Err(error) => {
                self.notice(SessionNotice::Always(format!("file rules were not judged: {error}")));
                None
            }
        });
        self.by_baseline.lock().ok()?.insert(baseline, found.clone());
        found
    }

    fn compare(&self, tree: &Tree, baseline: Baseline) -> Result<ChangedSince, GitError> {
        let default_branch = self.default_branch.as_deref();
        let commit = match baseline {
            Baseline::Base => tree.base(default_branch)?,
            Baseline::DefaultTip => tree.default_tip(default_branch)?,
            Baseline::Prompt => return self.compare_to_prompt(tree),
        };
        if let Some(note) = commit.note {
            self.notice(SessionNotice::Once(note));
        }
        if let Some(UnknownDefaultBranch { why, help }) = commit.unknown_default {
            if self.needs_default_branch {
                return Err(GitError::Failed(why));
            }
            self.notice(SessionNotice::Once(format!(
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
            self.notice(SessionNotice::Once(BASELINE_LOST.to_owned()));
        }
        let baseline_name = match earlier.and_then(|earlier| earlier.commit) {
            // Without a session, `check --staged` compares with `commit.id`, so answers are recorded for both.
            Some(earlier) => BaselineName { name: earlier, also: Some(commit.id) },
            None => BaselineName::from(commit.id),
        };
        let changes = Arc::new(tree.changes_since(&baseline_name.name)?);
        Ok(ChangedSince { changes, baseline_name })
    }

    fn compare_to_prompt(&self, tree: &Tree) -> Result<ChangedSince, GitError> {
        let snapshot = self.prompt_baseline.as_ref().map(|prompt_baseline| (prompt_baseline, prompt_baseline.read()));
        match snapshot {
            Some((prompt_baseline, Ok(snapshot))) => {
                let changes = Arc::new(snapshot.changes(tree)?);
                Ok(ChangedSince { changes, baseline_name: prompt_baseline.baseline_name.clone().into() })
            }
            Some((_, Err(_))) | None => {
                self.notice(SessionNotice::Once(
                    "there is no snapshot of the tree from the last prompt, so rules with `compare_to: prompt` compare with the base of the branch instead"
                        .to_owned(),
                ));
                self.since_baseline(Baseline::Base).ok_or_else(|| GitError::Failed("no base of the branch".to_owned()))
            }
        }
    }

    fn tree(&self) -> Option<&Tree> {
        let tree = self.tree.get_or_init(|| {
            let tree = Tree::of(&self.root, GIT_TIMEOUT);
            match &tree {
                None => {
                    self.notice(SessionNotice::Once(
                        "file rules are off here: this is not a git repository".to_owned(),
                    ));
                }
                Some(tree) if !tree.disabled_filters().is_empty() => self.notice(SessionNotice::Once(format!(
                    "the repository's git configuration has filters, which Linchpin does not run: {}",
                    tree.disabled_filters().join(", ")
                ))),
                Some(_) => {}
            }
            tree
        });
        tree.as_ref()
    }

    fn notice(&self, notice: SessionNotice) {
        if let Ok(mut notices) = self.notices.lock()
            && !notices.contains(&notice)
        {
            notices.push(notice);
        }
    }
}
