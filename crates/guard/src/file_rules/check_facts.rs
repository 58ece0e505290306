//! What `check` knows: the given changes, the project's workflow, loop and tasks, and nothing of any session.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use engine::facts::{
    Answered, EventPart, Facts, GitField, LoopField, PhaseField, RanCommand, TaskField, WorkflowField,
};
use engine::file_rules::{Changes, FileMatch, FileRule, Reach};
use engine::rules::{Rule, RuleSet};
use policy::Config;
use serde_json::{Map, Value};

use super::check::Compared;
use super::queue::{Queue, trigger_hash};
use super::settlement::settled;
use crate::live_facts::LiveFacts;
use crate::task_facts::TaskFacts;

pub struct CheckFacts {
    pub compared: Compared,
    pub rules: RuleSet,
    pub config: Arc<Config>,
    pub root: PathBuf,
    pub answers: Option<Queue>,
    /// In lower case.
    pub acknowledged: BTreeSet<String>,
    pub tasks: TaskFacts,
    /// The workflow that is active, and the run of a loop that this process belongs to.
    pub around: LiveFacts,
    /// What was asked for that only a session has.
    pub unknown: Mutex<Vec<String>>,
    /// The variables whose default was given.
    pub defaults: Mutex<Vec<String>>,
}

impl CheckFacts {
    fn lacks(&self, fact: impl Into<String>) {
        if let Ok(mut unknown) = self.unknown.lock() {
            unknown.push(fact.into());
        }
    }

    /// The variables whose default was given since this was last asked.
    pub fn take_defaults(&self) -> Vec<String> {
        let mut taken = self.defaults.lock().map(|mut names| std::mem::take(&mut *names)).unwrap_or_default();
        taken.sort();
        taken.dedup();
        taken
    }
}

impl Facts for CheckFacts {
    fn variable(&self, name: &str) -> Option<Value> {
        let default = self.config.variable(name);
        match &default {
            None => self.lacks(format!("`variables.{name}`")),
            Some(_) => {
                if let Ok(mut defaults) = self.defaults.lock() {
                    defaults.push(name.to_owned());
                }
            }
        }
        default
    }

    fn variable_names(&self) -> Vec<String> {
        self.config.variable_names().map(str::to_owned).collect()
    }

    fn git(&self, field: GitField) -> Value {
        self.compared.git.get(field.name()).cloned().unwrap_or(Value::Null)
    }

    fn workflow(&self, field: WorkflowField) -> Value {
        self.around.workflow(field)
    }

    fn phase(&self, field: PhaseField) -> Value {
        self.around.phase(field)
    }

    fn claims(&self) -> Map<String, Value> {
        self.around.claims()
    }

    fn in_loop(&self, field: LoopField) -> Value {
        self.around.in_loop(field)
    }

    fn stop_signal(&self, session: Option<&str>) -> bool {
        if session.is_none() {
            self.lacks("`has_stop_signal()`");
            return false;
        }
        self.around.stop_signal(session)
    }

    fn tasks(&self, field: TaskField) -> Value {
        self.tasks.count(field).unwrap_or_default()
    }

    fn task_tree_is_complete(&self, id: &str) -> bool {
        self.tasks.tree_is_complete(id).unwrap_or(false)
    }

    fn task_needs_review(&self, id: &str) -> bool {
        self.tasks.needs_review(id).unwrap_or(false)
    }

    fn commands_ran(&self) -> Vec<RanCommand> {
        self.lacks("the commands that the session ran");
        Vec::new()
    }

    fn asked(&self, part: EventPart<'_>) {
        self.lacks(format!("`{}`", part.name()));
    }

    fn take_unknown(&self) -> Vec<String> {
        self.unknown.lock().map(|mut unknown| std::mem::take(&mut *unknown)).unwrap_or_default()
    }

    fn take_missed(&self) -> bool {
        // Both are asked, or the one would be told of another rule.
        let around = self.around.take_missed();
        self.tasks.take_missed() || around
    }

    fn changes(&self, reach: Reach) -> Option<Arc<Changes>> {
        Some(Arc::clone(&self.compared.changes.get(&reach)?.as_ref()?.changes))
    }

    fn answered(&self, rule: &Rule, found: &FileMatch) -> Answered {
        let names = [rule.id.to_lowercase(), rule.shown_title().to_lowercase()];
        let is_acknowledged = names.iter().any(|name| self.acknowledged.contains(name));
        if is_acknowledged {
            let settled = found.trigger_files().map(str::to_owned).collect();
            return Answered { settled, ..Answered::default() };
        }
        let reference = rule.as_file_rule().and_then(|file| self.compared.changes.get(&file.reach)?.as_ref());
        let Some((queue, since)) = self.answers.as_ref().zip(reference) else { return Answered::default() };
        let settled = settled(queue, &self.root, rule, found, &since.reference);
        // What is open is looked at only to tell of an entry that is damaged.
        queue.find(&rule.id, &trigger_hash(&rule.id, found.trigger_files(), &since.reference.name));
        Answered { settled, ..Answered::default() }
    }

    fn file_rule(&self, id: &str) -> Option<FileRule> {
        self.rules.get(id).ok()??.as_file_rule().cloned()
    }
}
