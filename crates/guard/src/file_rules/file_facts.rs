//! Facts about changed files at a live event. `linchpin replay` uses recorded facts instead.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use engine::facts::DemandState;
use engine::file_rules::{ChangeScope, Changes, FileRule, PossibleDemand};
use engine::rules::RuleSet;
use engine::{Event, EventKind};
use policy::Config;
use store::StoredState;
use tree::{Snapshot, Tree};

use super::GIT_TIMEOUT;
use super::attribution::Attribution;
use super::changed_files::ChangedFiles;
use super::demand_tracker::DemandTracker;
use super::prompt_baseline::PromptBaseline;
use super::queue::Queue;
use super::session_baseline::SessionBaseline;
use crate::Environment;
use crate::project::Project;
use crate::timestamp::timestamp;

/// The facts for the file rules of one policy.
pub struct FileFacts {
    pub changed_files: ChangedFiles,
    pub demand_tracker: DemandTracker,
    /// The rules in force, for rules that refer to another rule by its id.
    pub rules: Vec<RuleSet>,
    /// See [`FileFacts::uncommitted_digest`].
    uncommitted_digest: Mutex<Option<String>>,
}

/// Builds [`FileFacts`]. They are built only when a rule asks for them, because most events need none.
pub struct FileFactsBuilder {
    pub project: Project,
    pub environment: Environment,
    pub event: Arc<Event>,
    pub config: Arc<Config>,
    pub rules: Vec<RuleSet>,
    pub journal_path: PathBuf,
    pub options: store::StoreOptions,
    /// The name and time of the tree snapshot to compare with: in a run, the snapshot of the current hat, else that of
    /// the session's last prompt.
    pub tree_snapshot: Option<(String, i64)>,
    /// The baseline from the start of the active workflow. It is used if the session is unknown.
    pub workflow_baseline: Option<SessionBaseline>,
}

impl FileFactsBuilder {
    /// `state` is the session's stored state.
    pub fn build(&self, state: Option<&StoredState>) -> FileFacts {
        let baseline = match state {
            Some(state) => SessionBaseline::stored(&state.variables, &self.project.root),
            None => self.workflow_baseline.clone(),
        };
        let (root, event) = (&self.project.root, &self.event);
        let tmp = self.project.tmp(&self.environment);
        let prompt_baseline = self.tree_snapshot.as_ref().map(|(name, time)| PromptBaseline::new(&tmp, name, *time));
        let home = self.environment.home.as_deref();
        let attribution = Attribution {
            journal_path: self.journal_path.clone(),
            options: self.options,
            agent: event.agent.clone(),
            session: event.session.clone(),
            home: home.map(|home| home.to_string_lossy().into_owned()),
        };
        let message = event.message.as_deref();
        let demand_tracker = DemandTracker::new(
            root,
            Queue::of(&self.project, &self.environment).for_dry_run(event.is_dry_run),
            &event.session,
            timestamp(event.time),
            message,
        );
        let demand_tracker = match event.kind {
            EventKind::SubagentStop => demand_tracker.for_subagent(event.subagent.as_deref().unwrap_or_default()),
            _ => demand_tracker,
        };
        FileFacts {
            changed_files: ChangedFiles::new(
                root,
                self.config.branches.default.clone(),
                baseline,
                prompt_baseline,
                attribution,
            )
            .with_required_default_branch(!event.kind.is_stop()),
            demand_tracker,
            rules: self.rules.clone(),
            uncommitted_digest: Mutex::default(),
        }
    }
}

impl FileFacts {
    /// The changes in a scope; `None` if they are unknown.
    pub fn changes(&self, change_scope: ChangeScope) -> Option<Arc<Changes>> {
        Some(self.changed_files.in_scope(change_scope)?.changes)
    }

    /// The state of a demand; `None` if the changes are unknown or the demand cannot be written to the queue.
    pub fn register(&self, demand: &PossibleDemand<'_>) -> Option<DemandState> {
        self.demand_tracker.register(demand, &self.changed_files.in_scope(demand.file_rule.scope)?.baseline_id)
    }

    /// A digest of all uncommitted files. A command that failed may succeed once any of them has changed.
    pub fn uncommitted_digest(&self) -> Option<String> {
        let mut digest = self.uncommitted_digest.lock().ok()?;
        if digest.is_none() {
            *digest = self.compute_uncommitted_digest();
        }
        digest.clone()
    }

    /// Makes the next call of [`Self::uncommitted_digest`] read the files again, because a command may have changed
    /// them.
    pub fn forget_uncommitted_digest(&self) {
        if let Ok(mut digest) = self.uncommitted_digest.lock() {
            *digest = None;
        }
    }

    fn compute_uncommitted_digest(&self) -> Option<String> {
        let tree = Tree::of(self.changed_files.root(), GIT_TIMEOUT)?;
        let contents = Snapshot::current_fingerprints(&tree).ok()?;
        Some(policy::digest(serde_json::to_vec(&contents).ok()?))
    }

    /// The file rule with this id.
    pub fn rule(&self, id: &str) -> Option<FileRule> {
        self.rules.iter().find_map(|rules| rules.get(id).ok()??.as_file_rule().cloned())
    }
}
