//! Facts for judging a past event again. They come only from the journal, never from the current state of files or git
//! or from the clock.
//!
//! The facts that rules used were recorded with the event. Some facts that were not recorded, such as variables and
//! commands, follow from earlier journal entries. All other facts are missing, and a rule that needs a missing fact is
//! undecidable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use engine::Event;
use engine::event::ShellText;
use engine::facts::{
    DemandState, EventPart, FactStore, Facts, GitField, LoopField, Missing, PhaseField, RanCommand, TaskField,
    WorkflowField,
};
use engine::file_rules::{ChangeScope, Changes, FileRule, PossibleDemand};
use engine::pace::{Activity, PaceLimit, PaceRuleRef, PaceState};
use engine::rules::RuleSet;
use engine::workflow::Workflow;
use policy::{CompiledPolicy, Config};
use serde_json::{Map, Value};
use shell::FileContents;
use store::mask::MASK;
use store::{JournalEntry, SessionKey, Store, WORKFLOW_VARIABLE_PREFIX};

use super::fact_names::{
    CLAIMS_FACT, fact_name, hold_counter, pace_fact, stop_signal_fact, task_review_fact, task_tree_fact, tasks_fact,
    variable_fact,
};
use super::past_workflow::{PastWorkflow, Unknown};
use super::path_record::{PATHS_FACT, PathRecord};
use super::ran_commands::{MAX_SHELL_CALLS, simple_commands};
use super::{input_record, token_count};
use crate::file_rules::{changes_fact, changes_of_record, demand_fact, demand_of_record};
use crate::grants::is_acknowledged;

/// The state of a session, as it follows from the session's earlier journal entries.
#[derive(Debug, Clone, Default)]
pub struct PastSession {
    pub variables: Map<String, Value>,
    /// How often each rule has held the stop that the agent is attempting. Holds are counted by the verdicts of the
    /// replay, not by the recorded ones.
    pub holds: BTreeMap<String, u32>,
    /// True if the session's earlier events were pruned from the journal.
    pub is_pruned: bool,
}

impl PastSession {
    /// Applies the variable changes of an entry. This is called before the entry's event is judged again, because the
    /// observers that made the changes ran before the rules judged the event.
    pub fn apply_entry(&mut self, entry: &JournalEntry) {
        // The names of session variables are recorded without a prefix, those of workflow variables with one.
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
    past: PastSession,
    /// The policy's directory relative to the project's root; empty for the project's own policy.
    directory: PathBuf,
    config: Arc<Config>,
    rules: RuleSet,
    journal: Arc<Mutex<Store>>,
    paths: PathRecord,
    /// `None` if the journal cannot be read.
    commands: OnceLock<Option<Vec<RanCommand>>>,
    /// The workflow whose rules judge the event, and the state of the workflow at the event; `None` if the rules are
    /// not those of a workflow.
    workflow: Option<(Arc<Workflow>, Arc<PastWorkflow>)>,
}

impl RecordedFacts {
    pub fn new(
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        past: PastSession,
        directory: &Path,
        policy: &CompiledPolicy,
        journal: &Arc<Mutex<Store>>,
    ) -> Self {
        Self {
            entry: Arc::clone(entry),
            event: Arc::clone(event),
            past,
            directory: directory.to_owned(),
            config: Arc::clone(&policy.config),
            rules: policy.rules.clone(),
            journal: Arc::clone(journal),
            paths: PathRecord::of_entry(entry),
            commands: OnceLock::new(),
            workflow: None,
        }
    }

    /// Changes the facts into those for the rules of a workflow.
    pub fn in_workflow(mut self, workflow: Arc<Workflow>, past_workflow: Arc<PastWorkflow>) -> Self {
        self.workflow = Some((workflow, past_workflow));
        self
    }

    /// The recorded value of a fact. If none was recorded, the value that `derive` returns, which follows from earlier
    /// entries.
    fn recorded_or_derived(
        &self,
        fact: String,
        derive: impl FnOnce(&PastWorkflow) -> Result<Value, Unknown>,
    ) -> Result<Value, Missing> {
        if let Some(recorded) = self.recorded(&fact) {
            return Ok(recorded.clone());
        }
        let derived = self.workflow.as_ref().and_then(|(_, past_workflow)| derive(past_workflow).ok());
        derived.ok_or(Missing::NotRecorded(fact))
    }

    /// The recorded value of a fact that does not follow from earlier entries.
    fn recorded_value(&self, fact: String) -> Result<Value, Missing> {
        self.recorded(&fact).cloned().ok_or(Missing::NotRecorded(fact))
    }

    /// Like `recorded_value`, for a fact that is true or false.
    fn recorded_flag(&self, fact: String) -> Result<bool, Missing> {
        Ok(self.recorded_value(fact)? == Value::Bool(true))
    }

    fn recorded(&self, name: &str) -> Option<&Value> {
        self.entry.facts.get(&fact_name(&self.directory, name))
    }

    /// Returns the name of the missing fact if this part of the event was not recorded, or contains a masked secret;
    /// `None` if the part is there.
    fn missing_part(&self, part: EventPart<'_>) -> Option<String> {
        let masked = |text: &str| text.contains(MASK).then(|| input_record::masked_part_name(part));
        let missing_text = |text: Option<&String>, digest: &str| match text {
            Some(text) => masked(text),
            // If the text was not recorded, but its digest was, the text is missing. If neither was recorded, the event
            // did not have this part.
            None => self.entry.digests.contains_key(digest).then(|| part.name()),
        };
        let call = self.event.tool.as_ref();
        match part {
            EventPart::Command => match call.and_then(|call| call.shell.as_ref()) {
                Some(ShellText::Command(text)) => masked(text),
                Some(ShellText::Missing) | None => None,
            },
            EventPart::Paths => missing_paths_fact(&self.entry),
            EventPart::Input | EventPart::HasInput | EventPart::InputField(_) => {
                call.and_then(|call| input_record::missing_part(part, &call.input, &self.entry))
            }
            EventPart::Output => match call.and_then(|call| call.output.as_ref()) {
                Some(output) => input_record::is_masked(output).then(|| input_record::masked_part_name(part)),
                None => missing_text(None, "output"),
            },
            EventPart::Prompt => missing_text(self.event.prompt.as_ref(), "prompt"),
            EventPart::Message => missing_text(self.event.message.as_ref(), "message"),
        }
    }
}

/// Returns the name of the missing fact if a secret in one of the event's paths was masked, or if there were too many
/// facts about paths to record them; `None` otherwise.
pub fn missing_paths_fact(entry: &JournalEntry) -> Option<String> {
    if entry.tool.paths.iter().any(|file| file.path.contains(MASK)) {
        return Some(input_record::masked_part_name(EventPart::Paths));
    }
    PathRecord::has_too_many(entry).then(|| PATHS_FACT.to_owned())
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
            Some(derived) => Ok(Some(derived.clone())),
            None if self.past.is_pruned => Err(Missing::NotRecorded(fact)),
            None => Ok(self.config.initial_value(name)),
        }
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        if self.past.is_pruned {
            return Err(Missing::NotRecorded("variables".to_owned()));
        }
        let derived = self.past.variables.keys().map(String::as_str);
        let of_workflow = self.workflow.iter().flat_map(|(workflow, _)| workflow.variables.keys().map(String::as_str));
        let names = derived.chain(self.config.variable_names()).chain(of_workflow);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        self.recorded_or_derived(format!("workflow.{}", field.name()), |past_workflow| {
            past_workflow.workflow_field(field)
        })
    }

    fn require_claims(&self) -> Result<Map<String, Value>, Missing> {
        let claims = self.recorded_or_derived(CLAIMS_FACT.to_owned(), PastWorkflow::claims)?;
        Ok(claims.as_object().cloned().unwrap_or_default())
    }

    fn phase(&self, field: PhaseField) -> Result<Value, Missing> {
        self.recorded_or_derived(format!("phase.{}", field.name()), |past_workflow| {
            past_workflow.phase_field(field, self.event.time)
        })
    }

    fn loop_field(&self, field: LoopField) -> Result<Value, Missing> {
        self.recorded_value(format!("loop.{}", field.name()))
    }

    fn stop_signal(&self, session: Option<&str>) -> Result<bool, Missing> {
        self.recorded_flag(stop_signal_fact(session))
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
        self.recorded_flag(task_tree_fact(id))
    }

    fn task_needs_review(&self, id: &str) -> Result<bool, Missing> {
        self.recorded_flag(task_review_fact(id))
    }

    fn changes(&self, change_scope: ChangeScope) -> Result<Option<Arc<Changes>>, Missing> {
        let fact = changes_fact(change_scope);
        let changes = self.recorded(&fact).and_then(changes_of_record);
        changes.map(|changes| Some(Arc::new(changes))).ok_or(Missing::NotRecorded(fact))
    }

    fn find_or_write_demand(&self, demand: &PossibleDemand<'_>) -> Result<DemandState, Missing> {
        let fact = demand_fact(demand.id);
        self.recorded(&fact).and_then(demand_of_record).ok_or(Missing::NotRecorded(fact))
    }

    /// The recorded state of a pace rule. If the event did not count towards the rule's limit, no state was recorded,
    /// and this returns `None` instead of an error for a missing fact.
    fn pace_state(&self, rule: PaceRuleRef<'_>, activity: Option<&Activity>) -> Result<Option<PaceState>, Missing> {
        let limit = &rule.pace.limit;
        let fact = pace_fact(rule.digest, self.workflow.is_some());
        if let Some(recorded) = self.recorded(&fact) {
            return Ok(serde_json::from_value(recorded.clone()).ok());
        }
        let is_counted = activity.is_some_and(|activity| {
            activity.attempts(limit, self.event.time).is_ok_and(|attempts| !attempts.is_empty())
        });
        let total_limits_are_off =
            self.workflow.as_ref().is_some_and(|(_, past_workflow)| past_workflow.total_limits_are_off());
        // True if the rule was judged when the event happened, so that its state should have been recorded.
        let is_judged = match limit {
            PaceLimit::RepeatedCommand { .. } | PaceLimit::RepeatedFileEdit { .. } => is_counted,
            PaceLimit::PhaseTimeout { .. } => !total_limits_are_off,
            PaceLimit::TokenBudget { .. } => !total_limits_are_off && token_count::has_new_tokens(self.event.kind),
            PaceLimit::RequireCommits { .. } => false,
        };
        if is_judged {
            return Err(Missing::NotRecorded(format!("the counts of rule `{}`", rule.id)));
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
                    store.commands_of_all_sessions(past_workflow.phase_started()?, self.entry.id, MAX_SHELL_CALLS)
                }
                None => store.commands_before(key, self.entry.id, MAX_SHELL_CALLS),
            };
            Some(commands.ok()?.iter().flat_map(simple_commands).collect())
        });
        let is_complete = !self.past.is_pruned || self.workflow.is_some();
        let commands = commands.as_ref().filter(|_| is_complete).cloned();
        commands.ok_or_else(|| Missing::NotRecorded("commands that ran before".to_owned()))
    }

    /// The real path that was recorded for a path with symlinks; `None` if none was recorded. Such a path is taken for
    /// a real path.
    fn resolve_symlinks(&self, path: &str) -> Option<String> {
        self.paths.resolved(path)
    }

    fn expand_glob(&self, pattern: &str) -> Option<Vec<String>> {
        self.paths.matches(pattern)
    }

    fn search_files(&self, pattern: &str) -> Option<Vec<String>> {
        self.paths.matches(pattern)
    }

    fn written_file(&self, path: &str) -> Option<FileContents> {
        self.paths.script(path)
    }

    fn is_directory(&self, path: &str) -> Option<bool> {
        self.paths.is_directory(path)
    }

    fn hold_count(&self, rule: &str) -> Result<u32, FactStore> {
        let count = self.past.holds.get(&hold_counter(&self.directory, rule)).copied().unwrap_or(0);
        // If the agent's previous stop was not held, the holds are counted from zero again.
        Ok(if self.event.held_before { count } else { 0 })
    }

    fn is_acknowledged(&self, rule: &str, digest: &str) -> bool {
        is_acknowledged(&self.past.variables, rule, digest)
    }

    fn require(&self, part: EventPart<'_>) -> Result<(), Missing> {
        self.missing_part(part).map_or(Ok(()), |part| Err(Missing::NotRecorded(part)))
    }
}
