//! Facts for judging a past event again. They come from the journal only, never from the present state of the world.
//!
//! Facts that rules used were recorded with the event. Other facts are known only if they follow from earlier events,
//! as variables and commands do. All others are missing, and a rule that asks for them is undecidable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use engine::Event;
use engine::event::ShellText;
use engine::facts::{
    DemandState, EventPart, Facts, GitField, LoopField, Missing, PhaseField, RanCommand, TaskField, WorkflowField,
};
use engine::file_rules::{ChangeScope, Changes, FileRule, UnmetFileRule};
use engine::pace::{Activity, PaceLimit, PaceRuleRef, PaceState};
use engine::rules::RuleSet;
use engine::workflow::Workflow;
use policy::{CompiledPolicy, Config};
use serde_json::{Map, Value};
use shell::FileContents;
use store::mask::MASK;
use store::{JournalEntry, SessionKey, Store, WORKFLOW_VARIABLE_PREFIX};

use super::fact_names::{
    CLAIMS_FACT, fact_name, hold_counter, pace_fact, review_fact, stop_fact, tasks_fact, tree_fact, variable_fact,
};
use super::past_workflow::{PastWorkflow, Unknown};
use super::path_record::{PATHS_FACT, PathRecord};
use super::session_journal::{COMMANDS_LIMIT, simple_commands};
use super::{input_record, token_count};
use crate::file_rules::{answered_fact, answered_of_record, changes_fact, changes_of_record};
use crate::grants::is_acknowledged;

/// Session state that follows from earlier events.
#[derive(Debug, Clone, Default)]
pub struct SessionPast {
    pub variables: Map<String, Value>,
    /// How often each rule has held the current stop, according to the rules used for this replay.
    pub holds: BTreeMap<String, u32>,
    /// True if the session's earlier events were pruned from the journal.
    pub is_cut: bool,
}

impl SessionPast {
    /// Applies the changes of an entry. Called before the entry's event is judged, because observers run before the
    /// rules.
    pub fn follow(&mut self, entry: &JournalEntry) {
        // Names of session variables contain no dot.
        for (name, value) in entry.changes.iter().filter(|(name, _)| !name.starts_with(WORKFLOW_VARIABLE_PREFIX)) {
            if value.is_null() {
                self.variables.remove(name);
            } else {
                self.variables.insert(name.clone(), value.clone());
            }
        }
    }
}

pub struct RecordedFacts {
    entry: Arc<JournalEntry>,
    event: Arc<Event>,
    past: SessionPast,
    /// The policy's directory relative to the project's root; empty for the project's own policy.
    folder: PathBuf,
    config: Arc<Config>,
    rules: RuleSet,
    journal: Arc<Mutex<Store>>,
    paths: PathRecord,
    /// `None` if the journal cannot be read.
    commands: OnceLock<Option<Vec<RanCommand>>>,
    /// The workflow whose rules are judged, and its state at the event.
    workflow: Option<(Arc<Workflow>, Arc<PastWorkflow>)>,
}

impl RecordedFacts {
    pub fn new(
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        past: SessionPast,
        folder: &Path,
        policy: &CompiledPolicy,
        journal: &Arc<Mutex<Store>>,
    ) -> Self {
        Self {
            entry: Arc::clone(entry),
            event: Arc::clone(event),
            past,
            folder: folder.to_owned(),
            config: Arc::clone(&policy.config),
            rules: policy.rules.clone(),
            journal: Arc::clone(journal),
            paths: PathRecord::of_entry(entry),
            commands: OnceLock::new(),
            workflow: None,
        }
    }

    /// The facts for rules of a workflow.
    pub fn in_workflow(mut self, workflow: Arc<Workflow>, past_workflow: Arc<PastWorkflow>) -> Self {
        self.workflow = Some((workflow, past_workflow));
        self
    }

    /// The recorded value; if there is none, the value that follows from earlier entries.
    fn known(
        &self,
        fact: String,
        follow: impl FnOnce(&PastWorkflow) -> Result<Value, Unknown>,
    ) -> Result<Value, Missing> {
        if let Some(recorded) = self.recorded(&fact) {
            return Ok(recorded.clone());
        }
        let followed = self.workflow.as_ref().and_then(|(_, past_workflow)| follow(past_workflow).ok());
        followed.ok_or(Missing::NotRecorded(fact))
    }

    /// The recorded value, for facts that do not follow from earlier entries.
    fn recorded_value(&self, fact: String) -> Result<Value, Missing> {
        self.recorded(&fact).cloned().ok_or(Missing::NotRecorded(fact))
    }

    /// Like `recorded_value`, for a fact that is true or false.
    fn recorded_flag(&self, fact: String) -> Result<bool, Missing> {
        Ok(self.recorded_value(fact)? == Value::Bool(true))
    }

    fn recorded(&self, name: &str) -> Option<&Value> {
        self.entry.facts.get(&fact_name(&self.folder, name))
    }

    fn lacking(&self, part: EventPart<'_>) -> Option<String> {
        let masked = |text: &str| text.contains(MASK).then(|| input_record::masked(part));
        let kept = |text: Option<&String>, digest: &str| match text {
            Some(text) => masked(text),
            // Without a digest, the event did not have this part.
            None => self.entry.digests.contains_key(digest).then(|| part.name()),
        };
        let call = self.event.tool.as_ref();
        match part {
            EventPart::Command => match call.and_then(|call| call.shell.as_ref()) {
                Some(ShellText::Command(text)) => masked(text),
                Some(ShellText::Missing) | None => None,
            },
            EventPart::Paths => unsure_paths(&self.entry),
            EventPart::Input | EventPart::HasInput | EventPart::InputField(_) => {
                call.and_then(|call| input_record::lacking(part, &call.input, &self.entry))
            }
            EventPart::Output => match call.and_then(|call| call.output.as_ref()) {
                Some(output) => input_record::is_masked(output).then(|| input_record::masked(part)),
                None => kept(None, "output"),
            },
            EventPart::Prompt => kept(self.event.prompt.as_ref(), "prompt"),
            EventPart::Message => kept(self.event.message.as_ref(), "message"),
        }
    }
}

/// Returns the name of the missing fact if the event's paths are not fully known; `None` if they are known.
pub fn unsure_paths(entry: &JournalEntry) -> Option<String> {
    if entry.tool.paths.iter().any(|file| file.path.contains(MASK)) {
        return Some(input_record::masked(EventPart::Paths));
    }
    PathRecord::is_lost(entry).then(|| PATHS_FACT.to_owned())
}

impl Facts for RecordedFacts {
    fn variable(&self, name: &str) -> Result<Option<Value>, Missing> {
        let of_workflow = self.workflow.as_ref().filter(|(workflow, _)| workflow.variables.contains_key(name));
        let fact = variable_fact(name, of_workflow.is_some());
        if let Some(recorded) = self.recorded(&fact) {
            return Ok(Some(recorded.clone()).filter(|value| !value.is_null()));
        }
        if let Some((workflow, past_workflow)) = of_workflow {
            return past_workflow.variable(name, workflow).map_err(|Unknown| Missing::NotRecorded(fact));
        }
        match self.past.variables.get(name) {
            Some(followed) => Ok(Some(followed.clone())),
            None if self.past.is_cut => Err(Missing::NotRecorded(fact)),
            None => Ok(self.config.variable(name)),
        }
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        if self.past.is_cut {
            return Err(Missing::NotRecorded("variables".to_owned()));
        }
        let followed = self.past.variables.keys().map(String::as_str);
        let of_workflow = self.workflow.iter().flat_map(|(workflow, _)| workflow.variables.keys().map(String::as_str));
        let names = followed.chain(self.config.variable_names()).chain(of_workflow);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        self.known(format!("workflow.{}", field.name()), |past_workflow| past_workflow.workflow_field(field))
    }

    fn require_claims(&self) -> Result<Map<String, Value>, Missing> {
        let claims = self.known(CLAIMS_FACT.to_owned(), PastWorkflow::claims)?;
        Ok(claims.as_object().cloned().unwrap_or_default())
    }

    fn phase(&self, field: PhaseField) -> Result<Value, Missing> {
        self.known(format!("phase.{}", field.name()), |past_workflow| past_workflow.phase_field(field, self.event.time))
    }

    fn in_loop(&self, field: LoopField) -> Result<Value, Missing> {
        self.recorded_value(format!("loop.{}", field.name()))
    }

    fn stop_signal(&self, session: Option<&str>) -> Result<bool, Missing> {
        self.recorded_flag(stop_fact(session))
    }

    fn git(&self, field: GitField) -> Result<Value, Missing> {
        if let (GitField::DefaultBranch, Some(branch)) = (field, &self.config.branches.default) {
            return Ok(Value::String(branch.clone()));
        }
        self.recorded_value(format!("git.{}", field.name()))
    }

    fn tasks(&self, field: TaskField) -> Result<Value, Missing> {
        self.recorded_value(tasks_fact(field))
    }

    fn task_tree_is_complete(&self, id: &str) -> Result<bool, Missing> {
        self.recorded_flag(tree_fact(id))
    }

    fn task_needs_review(&self, id: &str) -> Result<bool, Missing> {
        self.recorded_flag(review_fact(id))
    }

    fn changes(&self, change_scope: ChangeScope) -> Result<Option<Arc<Changes>>, Missing> {
        let fact = changes_fact(change_scope);
        let changes = self.recorded(&fact).and_then(changes_of_record);
        changes.map(|changes| Some(Arc::new(changes))).ok_or(Missing::NotRecorded(fact))
    }

    fn register_demand(&self, demand: &UnmetFileRule<'_>) -> Result<DemandState, Missing> {
        let fact = answered_fact(demand.id);
        self.recorded(&fact).and_then(answered_of_record).ok_or(Missing::NotRecorded(fact))
    }

    /// A pace rule is not recorded at events that cannot change its result. At these events, returns `None`, which is
    /// not a missing fact.
    fn pace_state(&self, rule: PaceRuleRef<'_>, happening: Option<&Activity>) -> Result<Option<PaceState>, Missing> {
        let limit = &rule.pace.limit;
        let fact = pace_fact(rule.digest, self.workflow.is_some());
        if let Some(recorded) = self.recorded(&fact) {
            return Ok(serde_json::from_value(recorded.clone()).ok());
        }
        let counts = happening.is_some_and(|happening| {
            happening.counted(limit, self.event.time).is_ok_and(|attempts| !attempts.is_empty())
        });
        let totals_are_set_aside =
            self.workflow.as_ref().is_some_and(|(_, past_workflow)| past_workflow.totals_are_set_aside());
        // False if a live judgement would have skipped the rule as well.
        let is_judged = match limit {
            PaceLimit::RepeatedCommand { .. } | PaceLimit::RepeatedFileEdit { .. } => counts,
            PaceLimit::PhaseTimeout { .. } => !totals_are_set_aside,
            PaceLimit::TokenBudget { .. } => !totals_are_set_aside && token_count::has_new_tokens(self.event.kind),
            PaceLimit::RequireCommits { .. } => false,
        };
        if is_judged {
            return Err(Missing::NotRecorded(format!("what `{}` had counted", rule.id)));
        }
        Ok(None)
    }

    fn file_rule(&self, id: &str) -> Option<FileRule> {
        self.rules.get(id).ok()??.as_file_rule().cloned()
    }

    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        let commands = self.commands.get_or_init(|| {
            let key = SessionKey { agent: &self.entry.session.agent, session: &self.entry.session.id };
            let store = self.journal.lock().ok()?;
            let commands = match &self.workflow {
                Some((_, past_workflow)) => {
                    store.commands_of_all_sessions(past_workflow.visit_started()?, self.entry.id, COMMANDS_LIMIT)
                }
                None => store.commands_before(key, self.entry.id, COMMANDS_LIMIT),
            };
            Some(commands.ok()?.iter().flat_map(simple_commands).collect())
        });
        let is_whole = !self.past.is_cut || self.workflow.is_some();
        let commands = commands.as_ref().filter(|_| is_whole).cloned();
        commands.ok_or_else(|| Missing::NotRecorded("commands that ran before".to_owned()))
    }

    /// Paths without a recorded symlink are real paths.
    fn resolve_symlinks(&self, path: &str) -> Option<String> {
        self.paths.resolved(path)
    }

    fn expand_glob(&self, pattern: &str) -> Option<Vec<String>> {
        self.paths.expanded(pattern)
    }

    fn search_files(&self, pattern: &str) -> Option<Vec<String>> {
        self.paths.expanded(pattern)
    }

    fn written_file(&self, path: &str) -> Option<FileContents> {
        self.paths.written(path)
    }

    fn is_folder(&self, path: &str) -> Option<bool> {
        self.paths.is_folder(path)
    }

    fn hold_count(&self, rule: &str) -> Result<u32, Missing> {
        let count = self.past.holds.get(&hold_counter(&self.folder, rule)).copied().unwrap_or(0);
        // If the previous stop was not held, counting starts again at zero.
        Ok(if self.event.held_before { count } else { 0 })
    }

    fn is_acknowledged(&self, rule: &str, digest: &str) -> bool {
        is_acknowledged(&self.past.variables, rule, digest)
    }

    fn require(&self, part: EventPart<'_>) -> Result<(), Missing> {
        self.lacking(part).map_or(Ok(()), |lacking| Err(Missing::NotRecorded(lacking)))
    }
}
