//! The facts of a live judgement: computed when a rule asks, and recorded for the journal. Facts that take long to
//! compute are cached.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use engine::event::EventKind;
use engine::facts::{
    DemandState, EventPart, FactStore, Facts, GitField, LoopField, Missing, PhaseField, RanCommand, TaskField,
    WorkflowField,
};
use engine::file_rules::{ChangeScope, FileRule, PossibleDemand};
use engine::observers::VariableChanges;
use engine::pace::{Activity, PaceRuleRef, PaceState, TokenKind};
use engine::rules::RuleSet;
use policy::Config;
use serde_json::{Map, Value, json};
use shell::FileContents;
use store::{EntryId, Store, StoredState};

use super::active_workflow::ActiveWorkflow;
use super::fact_names::{
    CLAIMS_FACT, fact_name, hold_counter, pace_fact, stop_signal_fact, task_review_fact, task_tree_fact, tasks_fact,
    variable_fact,
};
use super::fact_sources::FactSources;
use super::git_facts::GitFacts;
use super::input_record::UsedInput;
use super::pace_facts::{PaceError, PaceFacts, PaceScope};
use super::path_lookup::PathLookup;
use super::path_record::PathRecord;
use super::ran_commands::{MAX_SHELL_CALLS, simple_commands};
use super::session_scripts::contents_written_by_session;
use super::task_facts::TaskFacts;
use super::token_count::TokenCount;
use super::variable_overlay::VariableOverlay;
use crate::file_rules::{
    FileFacts, FileFactsBuilder, SessionBaseline, changes_fact, changes_record, demand_fact, demand_record,
};
use crate::grants::is_acknowledged;

pub struct LiveFacts {
    /// The policy's directory relative to the project's root; empty for the project's own policy.
    directory: PathBuf,
    /// `None` if the journal cannot be used.
    state: Option<StoredState>,
    config: Arc<Config>,
    sources: FactSources,
    /// The facts about changed files. They are created when one of them is first needed.
    file_facts: OnceLock<Arc<FileFacts>>,
    file_facts_builder: FileFactsBuilder,
    pace: PaceFacts,
    /// The active workflow, if its own rules are being judged.
    judged_workflow: Option<Arc<ActiveWorkflow>>,
    /// The active workflow, if the rules of another policy are being judged.
    surrounding_workflow: Option<Arc<ActiveWorkflow>>,
    variable_overlay: VariableOverlay,
    /// True while observers or actions run. The variables that they read are not recorded, because no rule used these
    /// variables.
    is_recording_paused: AtomicBool,
    used_facts: Mutex<Map<String, Value>>,
    used_input: Mutex<UsedInput>,
    paths: PathLookup,
    git: GitFacts,
    /// `None` if the commands cannot be read.
    commands: OnceLock<Option<Vec<RanCommand>>>,
}

impl LiveFacts {
    pub fn new(
        root: &Path,
        directory: &Path,
        state: Option<StoredState>,
        config: Arc<Config>,
        sources: FactSources,
        file_facts_builder: FileFactsBuilder,
        tokens: Arc<TokenCount>,
    ) -> Self {
        let event = &file_facts_builder.event;
        let pace = PaceFacts::new(Arc::clone(event), sources.journal_path.clone(), sources.options, tokens);
        Self {
            directory: directory.to_owned(),
            state,
            config,
            sources,
            file_facts: OnceLock::new(),
            file_facts_builder,
            pace,
            judged_workflow: None,
            surrounding_workflow: None,
            variable_overlay: VariableOverlay::default(),
            is_recording_paused: AtomicBool::new(false),
            used_facts: Mutex::default(),
            used_input: Mutex::default(),
            paths: PathLookup::default(),
            git: GitFacts::at(root),
            commands: OnceLock::new(),
        }
    }

    /// Sets the active workflow, for judging the rules of a policy other than the workflow's own. Such rules can ask
    /// for facts about the workflow.
    pub fn with_surrounding_workflow(mut self, active: Option<Arc<ActiveWorkflow>>) -> Self {
        self.surrounding_workflow = active;
        self
    }

    /// The active workflow, whether or not its own rules are being judged.
    fn active_workflow(&self) -> Result<Option<&Arc<ActiveWorkflow>>, Missing> {
        match self.judged_workflow.as_ref().or(self.surrounding_workflow.as_ref()) {
            Some(active) => Ok(Some(active)),
            // Without the journal it is unknown whether a workflow is active.
            None => self.session_state().map(|_| None),
        }
    }

    /// Changes the facts into those for judging the workflow's own rules. These rules may refer to the project's rules
    /// by id.
    pub fn in_workflow(mut self, active: Arc<ActiveWorkflow>, project_rules: &RuleSet) -> Self {
        self.file_facts_builder.workflow_baseline = SessionBaseline::of_workflow(&active.position);
        self.judged_workflow = Some(active);
        self.file_facts_builder.rules.push(project_rules.clone());
        self
    }

    /// The time of a session's last prompt. That prompt may be the current event.
    fn last_prompt(&self, session: &str) -> Option<i64> {
        let event = &self.file_facts_builder.event;
        if event.kind == EventKind::Prompt && session == self.sources.session {
            return Some(event.time);
        }
        let FactSources { journal_path, options, .. } = &self.sources;
        Store::open_read_only(journal_path, *options).ok()?.last_prompt_time(session).ok().flatten()
    }

    /// All facts that rules used, by their names in the journal.
    pub fn used_facts(&self) -> Map<String, Value> {
        let used = self.used_facts.lock().map(|used| used.clone()).unwrap_or_default();
        used.into_iter().map(|(name, value)| (fact_name(&self.directory, &name), value)).collect()
    }

    /// The parts of the tool call's input that rules used.
    pub fn used_input(&self) -> UsedInput {
        self.used_input.lock().map(|used| used.clone()).unwrap_or_default()
    }

    pub fn path_record(&self) -> PathRecord {
        self.paths.record()
    }

    /// True if the session's stored state could be read. Without the stored state, observers have no variables to
    /// change.
    pub fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// Stops recording which variables are read, until [`Self::resume_recording`].
    pub fn pause_recording(&self) {
        self.is_recording_paused.store(true, Ordering::Relaxed);
    }

    pub fn resume_recording(&self) {
        self.is_recording_paused.store(false, Ordering::Relaxed);
    }

    /// Applies changes that an observer or action made, so that rules and later observers and actions see them.
    pub fn apply_changes(&self, changes: &VariableChanges) {
        self.variable_overlay.add(changes);
    }

    pub fn file_facts(&self) -> &Arc<FileFacts> {
        self.file_facts.get_or_init(|| Arc::new(self.file_facts_builder.build(self.state.as_ref())))
    }

    /// The facts about changed files; `None` if none of them was needed.
    pub fn file_facts_if_used(&self) -> Option<&Arc<FileFacts>> {
        self.file_facts.get()
    }

    pub fn pace(&self) -> &PaceFacts {
        &self.pace
    }

    pub fn hold_counter(&self, rule: &str) -> String {
        hold_counter(&self.directory, rule)
    }

    /// A fact about tasks. It is computed when a rule first asks for it, and recorded.
    fn task_fact(
        &self,
        name: String,
        compute: impl FnOnce(&TaskFacts) -> Result<Value, Missing>,
    ) -> Result<Value, Missing> {
        if let Some(recorded) = self.used_facts.lock().ok().and_then(|used| used.get(&name).cloned()) {
            return Ok(recorded);
        }
        let value = compute(&self.sources.task_facts)?;
        self.record(name, &value);
        Ok(value)
    }

    fn record(&self, name: String, value: &Value) {
        if let Ok(mut used) = self.used_facts.lock() {
            used.insert(name, value.clone());
        }
    }

    fn session_state(&self) -> Result<&StoredState, Missing> {
        self.state.as_ref().ok_or(Missing::Unavailable(FactStore::Session))
    }
}

impl Facts for LiveFacts {
    fn variable(&self, name: &str) -> Result<Option<Value>, Missing> {
        // A claim is not a variable, even if an expression names it like one.
        if self.judged_workflow.as_ref().is_some_and(|active| active.has_claim(name)) {
            return Ok(None);
        }
        let of_workflow = self.judged_workflow.as_ref().filter(|active| active.declares(name));
        let value = self.variable_overlay.get_or_else(name, || match of_workflow {
            Some(active) => Ok(active.variable(name)),
            None => Ok(self.session_state()?.variables.get(name).cloned()),
        })?;
        let value = value.or_else(|| self.config.initial_value(name));
        if !self.is_recording_paused.load(Ordering::Relaxed) {
            self.record(variable_fact(name, of_workflow.is_some()), value.as_ref().unwrap_or(&Value::Null));
        }
        Ok(value)
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        let mut names: BTreeSet<String> = self.session_state()?.variables.keys().cloned().collect();
        for (name, value) in self.variable_overlay.changes() {
            if value.is_some() {
                names.insert(name);
            } else {
                names.remove(&name);
            }
        }
        // Names that begin with `_` are reserved for Linchpin.
        names.retain(|name| !name.starts_with('_'));
        names.extend(self.config.variable_names().map(str::to_owned));
        names.extend(self.judged_workflow.iter().flat_map(|active| active.workflow.variables.keys().cloned()));
        Ok(names.into_iter().collect())
    }

    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        let active = self.active_workflow()?;
        let value = active.map_or_else(|| field.without_workflow(), |active| active.workflow_field(field));
        self.record(format!("workflow.{}", field.name()), &value);
        Ok(value)
    }

    fn phase(&self, field: PhaseField) -> Result<Value, Missing> {
        let active = self.active_workflow()?;
        let tokens = match active.filter(|_| field == PhaseField::Tokens) {
            Some(active) => {
                let used = self.pace.tokens_used(Some(&active.position.phase_key()));
                let used = used.map_err(|_| Missing::Unavailable(FactStore::Journal))?;
                used.known().map(|tokens| tokens.sum(&TokenKind::DEFAULT))
            }
            None => None,
        };
        let value = active.map_or(Value::Null, |active| {
            active.phase_field(field, || tokens, || self.git.commits_since(active.position.phase()))
        });
        self.record(format!("phase.{}", field.name()), &value);
        Ok(value)
    }

    fn loop_field(&self, field: LoopField) -> Result<Value, Missing> {
        let value = self.sources.loop_facts.field(field).map_err(|_| Missing::Unavailable(FactStore::Work))?;
        self.record(format!("loop.{}", field.name()), &value);
        Ok(value)
    }

    fn stop_signal(&self, session: Option<&str>) -> Result<bool, Missing> {
        let current = self.sources.session.as_str();
        let is_requested =
            self.sources.loop_facts.is_stop_requested(session, current, |session| self.last_prompt(session));
        let is_requested = is_requested.map_err(|_| Missing::Unavailable(FactStore::Work))?;
        self.record(stop_signal_fact(session), &json!(is_requested));
        Ok(is_requested)
    }

    fn tasks(&self, field: TaskField) -> Result<Value, Missing> {
        self.task_fact(tasks_fact(field), |tasks| tasks.count(field))
    }

    fn task_tree_is_complete(&self, id: &str) -> Result<bool, Missing> {
        let value = self.task_fact(task_tree_fact(id), |tasks| tasks.tree_is_complete(id).map(Value::Bool))?;
        Ok(value == Value::Bool(true))
    }

    fn task_needs_review(&self, id: &str) -> Result<bool, Missing> {
        let value = self.task_fact(task_review_fact(id), |tasks| tasks.needs_review(id).map(Value::Bool))?;
        Ok(value == Value::Bool(true))
    }

    fn claims(&self) -> Result<Map<String, Value>, Missing> {
        Ok(self.active_workflow()?.map(|active| active.claims.clone()).unwrap_or_default())
    }

    fn require_claims(&self) -> Result<Map<String, Value>, Missing> {
        let claims = self.claims()?;
        self.record(CLAIMS_FACT.to_owned(), &Value::Object(claims.clone()));
        Ok(claims)
    }

    fn git(&self, field: GitField) -> Result<Value, Missing> {
        let name = format!("git.{}", field.name());
        if let Some(recorded) = self.used_facts.lock().ok().and_then(|used| used.get(&name).cloned()) {
            return Ok(recorded);
        }
        let value = self.git.field(field, self.config.branches.default.as_ref())?;
        self.record(name, &value);
        Ok(value)
    }

    fn changes(&self, change_scope: ChangeScope) -> Result<Option<Arc<engine::file_rules::Changes>>, Missing> {
        let changes = self.file_facts().changes(change_scope);
        if let Some(changes) = &changes {
            self.record(changes_fact(change_scope), &changes_record(changes));
        }
        Ok(changes)
    }

    fn find_or_write_demand(&self, demand: &PossibleDemand<'_>) -> Result<DemandState, Missing> {
        let state = self.file_facts().register(demand).ok_or(Missing::Unavailable(FactStore::Queue))?;
        self.record(demand_fact(demand.id), &demand_record(&state));
        Ok(state)
    }

    fn pace_state(&self, rule: PaceRuleRef<'_>, activity: Option<&Activity>) -> Result<Option<PaceState>, Missing> {
        let state = self.session_state()?;
        let scope = match &self.judged_workflow {
            Some(active) => active.pace_scope(),
            None => PaceScope::of_session(state, self.file_facts_builder.event.time),
        };
        let pace_state = self.pace.state_at_event(rule, activity, &scope).map_err(|error| match error {
            PaceError::MetricAccessFailed(_) => Missing::Unavailable(FactStore::Journal),
            PaceError::RegexMatchFailed(why) => Missing::Failed(why),
        })?;
        if let Some(pace_state) = &pace_state {
            let fact = pace_fact(rule.digest, self.judged_workflow.is_some());
            self.record(fact, &serde_json::to_value(pace_state).unwrap_or_default());
        }
        Ok(pace_state)
    }

    fn file_rule(&self, id: &str) -> Option<FileRule> {
        self.file_facts().rule(id)
    }

    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        if self.judged_workflow.is_none() {
            self.session_state()?;
        }
        let read = || {
            let store = Store::open_read_only(&self.sources.journal_path, self.sources.options)?;
            // All sessions of the project share the active workflow, so the commands of all these sessions count.
            if let Some(active) = &self.judged_workflow {
                return store.commands_of_all_sessions(
                    active.position.phase().started,
                    EntryId(i64::MAX),
                    MAX_SHELL_CALLS,
                );
            }
            let key = store::SessionKey { agent: &self.sources.agent, session: &self.sources.session };
            store.commands(key, 0, MAX_SHELL_CALLS)
        };
        let commands =
            self.commands.get_or_init(|| Some(read().ok()?.iter().flat_map(simple_commands).collect::<Vec<_>>()));
        commands.clone().ok_or(Missing::Unavailable(FactStore::Journal))
    }

    fn resolve_symlinks(&self, path: &str) -> Option<String> {
        self.paths.resolve_symlinks(path)
    }

    fn expand_glob(&self, pattern: &str) -> Option<Vec<String>> {
        Some(self.paths.expand_shell_glob(pattern))
    }

    fn search_files(&self, pattern: &str) -> Option<Vec<String>> {
        Some(self.paths.expand_search_glob(pattern))
    }

    fn is_directory(&self, path: &str) -> Option<bool> {
        self.paths.is_directory(path)
    }

    fn written_file(&self, path: &str) -> Option<FileContents> {
        let since = self.state.as_ref()?.first_seen?;
        let contents = contents_written_by_session(Path::new(path), since, &self.sources)?;
        self.paths.record_script(path, &contents);
        Some(contents)
    }

    fn hold_count(&self, rule: &str) -> Result<u32, FactStore> {
        let count = self.state.as_ref().ok_or(FactStore::Session)?.counter(&self.hold_counter(rule));
        // If the agent's previous stop was not held, the holds are counted from zero again.
        Ok(if self.file_facts_builder.event.held_before { u32::try_from(count).unwrap_or(0) } else { 0 })
    }

    fn is_acknowledged(&self, rule: &str, digest: &str) -> bool {
        // Without the journal, no rule counts as acknowledged.
        self.state.as_ref().is_some_and(|state| is_acknowledged(&state.variables, rule, digest))
    }

    fn require(&self, part: EventPart<'_>) -> Result<(), Missing> {
        if let Ok(mut used) = self.used_input.lock() {
            used.add_use(part);
        }
        Ok(())
    }
}
