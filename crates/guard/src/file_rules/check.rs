//! File rules without an agent: judged by changes that are given.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use engine::decide::Outcome;
use engine::event::{EventKind, EventKinds};
use engine::facts::{Answered, Facts, GitField, TaskField};
use engine::file_rules::{Changes, FileMatch, FileRule, Reach};
use engine::rules::{Rule, RuleSet, RuleSetError};
use engine::{Event, Inquiry, Place, Situation};
use policy::Config;
use serde_json::Value;

use super::changed::ChangedSince;
use super::queue::{ActionResult, Queue};
use super::settlement::is_settled;
use crate::task_facts::TaskFacts;

/// The name under which a check's own event goes.
const AGENT: &str = "check";

/// What is judged.
pub struct Check<'a> {
    /// The rules in force; those that are not about files are left alone.
    pub rules: &'a [Rule],
    pub config: &'a Config,
    pub place: Place,
    pub compared: Compared,
    /// What was answered here before, if that is to count.
    pub answers: Option<Queue>,
    /// The rules, by id or title, that somebody acknowledged in a commit.
    pub acknowledged: Vec<String>,
    pub tasks: TaskFacts,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// What rules are judged by.
#[derive(Default)]
pub struct Compared {
    /// Changes by how a rule reaches for them, each with its baseline; `None` where nobody can say.
    pub changes: BTreeMap<Reach, Option<ChangedSince>>,
    pub git: BTreeMap<&'static str, Value>,
}

/// One rule, and what it lacks.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedRule {
    pub rule: Rule,
    pub found: FileMatch,
    pub outcome: Outcome,
    /// What came of its command, where that was run.
    pub command: Option<ActionResult>,
}

impl CheckedRule {
    pub fn is_unmet(&self) -> bool {
        matches!(self.outcome, Outcome::Matched(_) | Outcome::Fault(..))
    }
}

/// Judges every file rule, whatever events it is for, in order.
pub fn check(check: Check<'_>) -> Result<Vec<CheckedRule>, RuleSetError> {
    let on = EventKinds::default().with(EventKind::Stop);
    let rules = check.rules.iter().filter(|rule| rule.as_file_rule().is_some());
    let rules: Vec<Rule> = rules.map(|rule| Rule { on, ..rule.clone() }).collect();
    let set = RuleSet::pack(&rules)?;
    let event = Event {
        kind: EventKind::Stop,
        name: "check".to_owned(),
        cwd: check.place.root.clone(),
        ..Event::unnamed(AGENT, check.now)
    };
    let acknowledged = check.acknowledged.iter().map(|name| name.to_lowercase()).collect();
    let facts = CheckFacts {
        compared: check.compared,
        rules: set.clone(),
        config: check.config.clone(),
        root: PathBuf::from(&check.place.root),
        answers: check.answers,
        acknowledged,
        tasks: check.tasks,
    };
    let situation = Arc::new(Situation::new(Arc::new(event), check.place, Arc::new(facts)));
    let decision = engine::decide(&Inquiry { situation: &situation, rules: &set, thorough: true })?;
    let considered = decision.considered.into_iter();
    Ok(considered
        .map(|considered| CheckedRule {
            rule: considered.rule,
            found: considered.files.unwrap_or_default(),
            outcome: considered.outcome,
            command: None,
        })
        .collect())
}

struct CheckFacts {
    compared: Compared,
    rules: RuleSet,
    config: Config,
    root: PathBuf,
    answers: Option<Queue>,
    acknowledged: BTreeSet<String>,
    tasks: TaskFacts,
}

impl Facts for CheckFacts {
    fn variable(&self, name: &str) -> Option<Value> {
        self.config.variable(name)
    }

    fn variable_names(&self) -> Vec<String> {
        self.config.variable_names().map(str::to_owned).collect()
    }

    fn git(&self, field: GitField) -> Value {
        self.compared.git.get(field.name()).cloned().unwrap_or(Value::Null)
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

    fn take_missed(&self) -> bool {
        self.tasks.take_missed()
    }

    fn changes(&self, reach: Reach) -> Option<Arc<Changes>> {
        Some(Arc::clone(&self.compared.changes.get(&reach)?.as_ref()?.changes))
    }

    fn answered(&self, rule: &Rule, found: &FileMatch) -> Answered {
        let names = [rule.id.to_lowercase(), rule.shown_title().to_lowercase()];
        let is_acknowledged = names.iter().any(|name| self.acknowledged.contains(name));
        let reference = rule.as_file_rule().and_then(|file| self.compared.changes.get(&file.reach)?.as_ref());
        let is_answered = |path: &str| {
            let answer = self.answers.as_ref().zip(reference);
            answer.is_some_and(|(queue, since)| is_settled(queue, &self.root, rule, path, &since.reference))
        };
        let settled = found.trigger_files().filter(|path| is_acknowledged || is_answered(path));
        let settled = settled.map(str::to_owned).collect();
        Answered { settled, ..Answered::default() }
    }

    fn file_rule(&self, id: &str) -> Option<FileRule> {
        self.rules.get(id).ok()??.as_file_rule().cloned()
    }
}
