//! `linchpin check`: checks given changes against the file rules, without an agent.

mod facts;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use engine::decide::{ConsideredRule, RuleOutcome};
use engine::event::{EventKind, EventKinds};
use engine::file_rules::{ChangeScope, FileMatch};
use engine::rules::{Rule, RuleSet, RuleSetError, Truth};
use engine::{BaseDirectories, DecisionRequest, Event, Situation, expr};
use policy::CompiledPolicy;
use serde_json::Value;
use tree::Fingerprints;

use self::facts::CheckFacts;
use crate::Environment;
use crate::facts::{SituationBuilder, TaskFacts};
use crate::file_rules::{ActionResult, ChangedSince, Queue};
use crate::project::Project;
use crate::session::HatPhase;

/// The agent name in the event that a check creates.
const AGENT: &str = "check";

/// The input of a check.
pub struct FileCheck<'a> {
    /// The rules in force. Only file rules are judged.
    pub rules: &'a [Rule],
    pub project: &'a Project,
    pub policy: Arc<CompiledPolicy>,
    pub environment: &'a Environment,
    pub base_directories: BaseDirectories,
    pub compared: Compared,
    /// The queue, which contains earlier answers to demands.
    pub queue: Queue,
    /// True if earlier answers to demands count.
    pub answers_count: bool,
    /// Ids or titles of rules that a commit acknowledges.
    pub acknowledged: Vec<String>,
    pub tasks: TaskFacts,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// The changes and git facts by which the rules are judged.
#[derive(Default)]
pub struct Compared {
    /// The changes in each scope, with their baseline; `None` if git failed.
    pub changes: BTreeMap<ChangeScope, Option<ChangedSince>>,
    pub git: BTreeMap<&'static str, Value>,
}

/// The result for one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedRule {
    pub rule: Rule,
    pub file_match: FileMatch,
    pub outcome: RuleOutcome,
    /// The result of the rule's command, if it ran.
    pub command: Option<ActionResult>,
    /// The variables whose initial values made `when` false, so that the rule made no demand.
    pub silenced_by: Vec<String>,
    /// True if the demand was answered on this machine, although such answers do not count.
    pub is_answered_here: bool,
}

/// The result of a check.
pub struct CheckResult {
    pub rules: Vec<CheckedRule>,
    pub notes: Vec<String>,
}

impl CheckedRule {
    /// True if the rule makes a demand, or failed.
    pub fn is_unmet(&self) -> bool {
        matches!(self.outcome, RuleOutcome::Matched(_) | RuleOutcome::Fault(..))
    }

    /// The facts that the rule needs, but that exist only in a session or cannot be read.
    pub fn missing_facts(&self) -> Option<&[String]> {
        match &self.outcome {
            RuleOutcome::Undecidable(facts) => Some(facts),
            _ => None,
        }
    }
}

/// Judges every file rule in order, no matter which events the rule names in `on`.
pub fn check(check: FileCheck<'_>) -> Result<CheckResult, RuleSetError> {
    let on = EventKinds::default().with(EventKind::Stop);
    let rules = check.rules.iter().filter(|rule| rule.as_file_rule().is_some());
    let rules: Vec<Rule> = rules.map(|rule| Rule { on, ..rule.clone() }).collect();
    let rule_set = RuleSet::pack(&rules)?;
    let event = Arc::new(Event {
        kind: EventKind::Stop,
        name: "check".to_owned(),
        cwd: check.base_directories.root.clone(),
        is_dry_run: true,
        ..Event::unknown(AGENT, check.now)
    });
    let hat_phase = HatPhase::of_process(check.project, check.environment).map(Arc::new);
    let situation_builder =
        SituationBuilder::for_command(check.project, Arc::clone(&check.policy), hat_phase, check.environment);
    let (workflow_and_run_facts, mut notes) = situation_builder.facts_without_session(&event);
    let facts = Arc::new(CheckFacts {
        compared: check.compared,
        rules: rule_set.clone(),
        config: Arc::clone(&check.policy.config),
        fingerprints: Fingerprints::of_files_in(&check.project.root),
        queue: check.queue,
        answers_count: check.answers_count,
        answered_here: Mutex::default(),
        acknowledged: check.acknowledged.iter().map(|name| name.to_lowercase()).collect(),
        tasks: check.tasks,
        workflow_and_run_facts,
        used_initial_values: Mutex::default(),
    });
    let situation = Arc::new(Situation::new(event, check.base_directories, Arc::clone(&facts) as _));
    let decision = engine::decide(&DecisionRequest { situation: &situation, rules: &rule_set, evaluate_all: true })?;
    let mut rules: Vec<CheckedRule> =
        decision.considered.into_iter().map(|considered| checked_rule(considered, &situation, &facts)).collect();
    for skipped in &decision.skipped {
        let Some(rule) = rule_set.get(&skipped.rule)? else { continue };
        let outcome = RuleOutcome::Undecidable(vec![STORED_STATE.to_owned()]);
        rules.push(CheckedRule {
            rule,
            file_match: FileMatch::default(),
            outcome,
            command: None,
            silenced_by: Vec::new(),
            is_answered_here: false,
        });
    }
    if facts.answers_count {
        notes.extend(facts.queue.take_problems());
    }
    Ok(CheckResult { rules, notes })
}

/// The name of the missing fact if the project's journal or tasks cannot be read.
pub const STORED_STATE: &str = "the project's journal or tasks";

fn checked_rule(considered: ConsideredRule, situation: &Arc<Situation>, facts: &CheckFacts) -> CheckedRule {
    let has_clause =
        |key: &str, truth: Truth| considered.clauses.iter().any(|clause| clause.key == key && clause.truth == truth);
    let is_silenced = considered.outcome == RuleOutcome::NotApplied
        && has_clause("files", Truth::True)
        && has_clause("when", Truth::False);
    let silenced_by = match (&considered.rule.when, considered.rule.as_file_rule()) {
        (Some(when), Some(file)) if is_silenced => {
            facts.take_used_initial_values();
            // The condition is evaluated again only to find out which variables it reads.
            let _ = expr::is_true(when, situation, file.scope);
            facts.take_used_initial_values()
        }
        _ => Vec::new(),
    };
    CheckedRule {
        is_answered_here: facts.is_answered_here(&considered.rule.id),
        rule: considered.rule,
        file_match: considered.file_match.unwrap_or_default(),
        outcome: considered.outcome,
        command: None,
        silenced_by,
    }
}
