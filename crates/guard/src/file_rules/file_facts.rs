//! Facts about changed files for an event that is happening now. `replay` uses recorded facts instead.

use std::path::PathBuf;
use std::sync::Arc;

use engine::facts::DemandState;
use engine::file_rules::{Change, ChangeScope, Changes, FileRule, Status, UnmetFileRule};
use engine::rules::RuleSet;
use engine::{Event, EventKind};
use policy::Config;
use serde_json::{Value, json};
use store::SessionState;
use tree::{Snapshot, Tree};

use super::GIT_TIMEOUT;
use super::attribution::Attribution;
use super::changed_files::ChangedFiles;
use super::demand_tracker::DemandTracker;
use super::prompt_baseline::{PromptBaseline, timestamp};
use super::queue::Queue;
use super::session_baseline::SessionBaseline;
use crate::Environment;
use crate::project::Project;

/// The maximum number of changes recorded with a judgement.
const MAX_RECORDED_CHANGES: usize = 500;

pub struct FileFacts {
    pub changed_files: ChangedFiles,
    pub demand_tracker: DemandTracker,
    /// All rules in force, for rules that refer to another rule.
    pub rules: Vec<RuleSet>,
}

/// Everything needed to create [`FileFacts`]. Most events need no file facts, so they are created on demand.
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
    /// The baseline of the active workflow. It replaces the session's baseline if the session is unknown.
    pub workflow_baseline: Option<SessionBaseline>,
}

impl FileFactsBuilder {
    /// `state` is the session's stored state.
    pub fn build(&self, state: Option<&SessionState>) -> FileFacts {
        let baseline = match state {
            Some(state) => SessionBaseline::stored(&state.variables),
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
        }
    }
}

impl FileFacts {
    pub fn changes(&self, change_scope: ChangeScope) -> Option<Arc<Changes>> {
        Some(self.changed_files.since(change_scope)?.changes)
    }

    /// The state of a demand; `None` if the demand cannot be written to the queue.
    pub fn register(&self, demand: &UnmetFileRule<'_>) -> Option<DemandState> {
        self.demand_tracker.register(demand, &self.changed_files.since(demand.file.scope)?.baseline_name)
    }

    /// A digest of all uncommitted files. A command that failed may succeed once any of them has changed.
    pub fn uncommitted_digest(&self) -> Option<String> {
        let tree = Tree::of(self.changed_files.root(), GIT_TIMEOUT)?;
        let contents = Snapshot::fingerprints(&tree).ok()?;
        Some(policy::digest(serde_json::to_vec(&contents).ok()?))
    }

    pub fn rule(&self, id: &str) -> Option<FileRule> {
        self.rules.iter().find_map(|rules| rules.get(id).ok()??.as_file_rule().cloned())
    }
}

/// The name of the fact with the changes in a scope.
pub fn changes_fact(change_scope: ChangeScope) -> String {
    format!("files.{}.{}", change_scope.compare_to.name(), change_scope.attribute.name())
}

/// The name of the fact with the state of a rule's demand.
pub fn demand_fact(rule: &str) -> String {
    format!("answered.{rule}")
}

/// The value of the fact with changes; null if there are too many changes.
pub fn changes_record(changes: &Changes) -> Value {
    if changes.len() > MAX_RECORDED_CHANGES {
        return Value::Null;
    }
    let record = |(path, status): (&str, Status)| {
        let letter = status.letter().to_string();
        if changes.is_own(path) { json!([letter, path]) } else { json!([letter, path, OTHERS_MARK]) }
    };
    changes.iter().map(record).collect()
}

/// Marks a change by another session.
const OTHERS_MARK: &str = "another's";

pub fn changes_of_record(record: &Value) -> Option<Changes> {
    let rows: Vec<Vec<String>> = serde_json::from_value(record.clone()).ok()?;
    let change =
        |row: &Vec<String>| Some(Change { status: Status::from_letter(row.first()?)?, path: row.get(1)?.clone() });
    let changes: Changes = rows.iter().map(change).collect::<Option<_>>()?;
    let is_of_others =
        |path: &str| rows.iter().any(|row| row.len() > 2 && row.get(1).is_some_and(|other| other == path));
    Some(changes.with_own(|path| !is_of_others(path)))
}

pub fn demand_record(state: &DemandState) -> Value {
    json!({ "settled": state.answered_files, "shown": state.times_asked, "given_up": state.is_given_up })
}

pub fn demand_of_record(record: &Value) -> Option<DemandState> {
    Some(DemandState {
        answered_files: serde_json::from_value(record.get("settled")?.clone()).ok()?,
        times_asked: u32::try_from(record.get("shown")?.as_u64()?).ok()?,
        is_given_up: record.get("given_up")?.as_bool()?,
    })
}
