//! The facts for `linchpin check`: the given changes, and the project's workflow, loop and tasks. There is no session.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use engine::facts::{
    DemandState, EventPart, Facts, GitField, LoopField, Missing, PhaseField, RanCommand, TaskField, WorkflowField,
};
use engine::file_rules::{ChangeScope, Changes, FileRule, PossibleDemand};
use engine::rules::RuleSet;
use policy::Config;
use serde_json::{Map, Value};
use tree::Fingerprints;

use super::Compared;
use crate::facts::{LiveFacts, TaskFacts};
use crate::file_rules::{Queue, answered_files, demand_hash};

pub struct CheckFacts {
    pub compared: Compared,
    pub rules: RuleSet,
    pub config: Arc<Config>,
    /// The fingerprints of files below the root.
    pub fingerprints: Fingerprints,
    /// The queue, which contains earlier answers to demands.
    pub queue: Queue,
    /// True if earlier answers to demands count.
    pub answers_count: bool,
    /// If earlier answers do not count: the ids of the rules with such an answer for all files.
    pub answered_here: Mutex<BTreeSet<String>>,
    /// The ids or titles of rules that a commit acknowledges, in lower case.
    pub acknowledged: BTreeSet<String>,
    pub tasks: TaskFacts,
    /// Facts about the active workflow and about the run to which this process belongs.
    pub workflow_and_run_facts: LiveFacts,
    /// The variables that rules read. There is no session, so each has its initial value.
    pub used_initial_values: Mutex<Vec<String>>,
}

impl CheckFacts {
    /// Returns the variables whose initial value was used since the last call of this function.
    pub fn take_used_initial_values(&self) -> Vec<String> {
        let mut names =
            self.used_initial_values.lock().map(|mut names| std::mem::take(&mut *names)).unwrap_or_default();
        names.sort();
        names.dedup();
        names
    }

    pub fn is_answered_here(&self, rule: &str) -> bool {
        self.answered_here.lock().is_ok_and(|rules| rules.contains(rule))
    }
}

impl Facts for CheckFacts {
    fn variable(&self, name: &str) -> Result<Option<Value>, Missing> {
        let initial_value =
            self.config.initial_value(name).ok_or_else(|| missing_without_session(format!("`variables.{name}`")))?;
        if let Ok(mut names) = self.used_initial_values.lock() {
            names.push(name.to_owned());
        }
        Ok(Some(initial_value))
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        Ok(self.config.variable_names().map(str::to_owned).collect())
    }

    fn git(&self, field: GitField) -> Result<Value, Missing> {
        Ok(self.compared.git.get(field.name()).cloned().unwrap_or(Value::Null))
    }

    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        self.workflow_and_run_facts.workflow(field)
    }

    fn phase(&self, field: PhaseField) -> Result<Value, Missing> {
        self.workflow_and_run_facts.phase(field)
    }

    fn claims(&self) -> Result<Map<String, Value>, Missing> {
        self.workflow_and_run_facts.claims()
    }

    fn loop_field(&self, field: LoopField) -> Result<Value, Missing> {
        self.workflow_and_run_facts.loop_field(field)
    }

    fn stop_signal(&self, session: Option<&str>) -> Result<bool, Missing> {
        if session.is_none() {
            return Err(missing_without_session("`has_stop_signal()`"));
        }
        self.workflow_and_run_facts.stop_signal(session)
    }

    fn tasks(&self, field: TaskField) -> Result<Value, Missing> {
        self.tasks.count(field)
    }

    fn task_tree_is_complete(&self, id: &str) -> Result<bool, Missing> {
        self.tasks.tree_is_complete(id)
    }

    fn task_needs_review(&self, id: &str) -> Result<bool, Missing> {
        self.tasks.needs_review(id)
    }

    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        Err(missing_without_session("the commands that the session ran"))
    }

    fn require(&self, part: EventPart<'_>) -> Result<(), Missing> {
        Err(missing_without_session(format!("`{}`", part.name())))
    }

    fn changes(&self, change_scope: ChangeScope) -> Result<Option<Arc<Changes>>, Missing> {
        let compared = self.compared.changes.get(&change_scope).and_then(Option::as_ref);
        Ok(compared.map(|compared| Arc::clone(&compared.changes)))
    }

    fn find_or_write_demand(&self, demand: &PossibleDemand<'_>) -> Result<DemandState, Missing> {
        let names = [demand.id.to_lowercase(), demand.title.to_lowercase()];
        let is_acknowledged = names.iter().any(|name| self.acknowledged.contains(name));
        if is_acknowledged {
            let answered = demand.file_match.trigger_files().map(str::to_owned).collect();
            return Ok(DemandState { answered_files: answered, ..DemandState::default() });
        }
        let since = self.compared.changes.get(&demand.file_rule.scope).and_then(Option::as_ref);
        let Some(since) = since else { return Ok(DemandState::default()) };
        let queue = &self.queue;
        let answered = answered_files(queue, &self.fingerprints, demand, &since.baseline_id);
        if !self.answers_count {
            let open = demand.file_match.clone().without_answered(|trigger| answered.contains(&trigger.path));
            if let (false, Ok(mut rules)) = (open.is_unmet(), self.answered_here.lock()) {
                rules.insert(demand.id.to_owned());
            }
            return Ok(DemandState::default());
        }
        // The returned queue entry is ignored. The call only adds a notice if the entry's file is damaged.
        queue.find_or_discard(
            demand.id,
            &demand_hash(demand.id, demand.file_match.trigger_files(), &since.baseline_id.id),
        );
        Ok(DemandState { answered_files: answered, ..DemandState::default() })
    }

    fn file_rule(&self, id: &str) -> Option<FileRule> {
        self.rules.get(id).ok()??.as_file_rule().cloned()
    }
}

/// The error for a fact that exists only in a session.
fn missing_without_session(fact: impl Into<String>) -> Missing {
    Missing::NotRecorded(fact.into())
}
