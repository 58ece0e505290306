//! Judges one rule on one event: evaluates its clauses and derives the outcome.
//!
//! This module handles one rule at a time; `decide` combines the outcomes and words the findings.

use std::sync::Arc;

use super::RuleOutcome;
use super::pace_judgement::{ActivityCell, PaceJudgement};
use crate::expr::{self, EvaluationError};
use crate::facts::{DemandState, FactStore, Missing};
use crate::file_rules::{self, ChangeScope, Changes, FileMatch, FileRule};
use crate::pace::PaceRule;
use crate::rules::{Clause, Detector, Rule, ToolRule, Truth};
use crate::situation::Situation;
use crate::verdict::Level;

pub(super) struct RuleJudgement {
    pub(super) clauses: Vec<Clause>,
    /// The match of a file rule, without triggers that are answered.
    pub(super) files: Option<FileMatch>,
    /// How often the file rule has asked for these files.
    pub(super) times_asked: u32,
    pub(super) pace: Option<PaceJudgement>,
    pub(super) outcome: RuleOutcome,
}

/// Ends the judgement of a rule early.
enum Halt {
    /// The rule is skipped: a fact that it needs is stored there and cannot be read.
    Skipped(FactStore),
    /// The outcome is known without the remaining clauses.
    Outcome(RuleOutcome),
}

impl RuleJudgement {
    pub(super) fn of(
        rule: &Rule,
        situation: &Arc<Situation>,
        evaluate_all: bool,
        activity: &ActivityCell,
    ) -> Result<Self, FactStore> {
        let judged =
            Self { clauses: Vec::new(), files: None, times_asked: 0, pace: None, outcome: RuleOutcome::Passed };
        let mut judge = RuleJudge { rule, situation, evaluate_all, judged };
        let outcome = match judge.outcome(activity) {
            Ok(outcome) | Err(Halt::Outcome(outcome)) => outcome,
            Err(Halt::Skipped(stored)) => return Err(stored),
        };
        Ok(Self { outcome, ..judge.judged })
    }

    /// The command or path that made the rule match, as words that end the reason. `None` for rules that allow.
    pub(super) fn matched_text(&self, situation: &Situation) -> Option<String> {
        let truth = match self.outcome {
            RuleOutcome::Matched(level) if level > Level::Allow => Truth::True,
            RuleOutcome::Incomplete(_) => Truth::Unknown,
            _ => return None,
        };
        Clause::matched_text(&self.clauses, truth, situation)
    }
}

struct RuleJudge<'a> {
    rule: &'a Rule,
    situation: &'a Arc<Situation>,
    /// Evaluate every clause, even after a false one.
    evaluate_all: bool,
    judged: RuleJudgement,
}

impl RuleJudge<'_> {
    fn outcome(&mut self, activity: &ActivityCell) -> Result<RuleOutcome, Halt> {
        let detected = match &self.rule.detect {
            Detector::Tool(tool) => self.tool(tool)?,
            Detector::Files(file) => self.files(file)?,
            Detector::Pace(pace) => self.pace(pace, activity)?,
            Detector::Event => Truth::True,
        };
        match self.when(detected)? {
            Truth::False => Ok(RuleOutcome::Passed),
            Truth::True => self.matched(),
            Truth::Unknown => Ok(incomplete_level(self.rule).map_or(RuleOutcome::Passed, RuleOutcome::Incomplete)),
        }
    }

    fn pace(&mut self, pace: &PaceRule, activity: &ActivityCell) -> Result<Truth, Halt> {
        let judgement = PaceJudgement::of(self.rule, pace, self.situation, activity);
        let Some(judgement) = judgement.map_err(|missing| self.halt_without([missing]))? else {
            return Err(Halt::Outcome(RuleOutcome::Passed));
        };
        let truth = judgement.truth();
        self.judged.clauses.push(judgement.clause(pace));
        self.judged.pace = Some(judgement);
        Ok(truth)
    }

    fn files(&mut self, file: &FileRule) -> Result<Truth, Halt> {
        let changes = self.situation.facts.changes(file.scope);
        let Some(changes) = changes.map_err(|missing| self.halt_without([missing]))? else {
            return Err(Halt::Outcome(RuleOutcome::Passed));
        };
        let found = file.judge(&changes).map_err(|error| self.fault(&error.to_string()))?;
        let truth = found.is_unmet().into();
        // Only `explain` mentions what other sessions' changes would demand.
        let others = self.evaluate_all && found.triggers.is_empty() && is_missing_for_others(file, &changes);
        let shown = if others { ONLY_OTHERS_CHANGES.to_owned() } else { shown_files(&found) };
        self.judged.clauses.push(Clause::new("files", truth, shown));
        self.judged.files = Some(found);
        Ok(truth)
    }

    fn tool(&mut self, tool: &ToolRule) -> Result<Truth, Halt> {
        let found = tool.judge(self.situation, self.evaluate_all).map_err(|error| self.fault(&error.to_string()))?;
        let truth = found.truth();
        // A missing fact about paths does not matter if another clause is already false.
        let is_false = found.truth_without_paths() == Truth::False;
        let missing: Vec<Missing> = found.missing().filter(|_| !is_false).cloned().collect();
        self.judged.clauses = found.clauses;
        if missing.is_empty() { Ok(truth) } else { Err(self.halt_without(missing)) }
    }

    /// Evaluates `when`. The rule matches only if `detected` (the result of its detector) and `when` are both true.
    fn when(&mut self, detected: Truth) -> Result<Truth, Halt> {
        let is_false = detected == Truth::False;
        let Some(when) = self.rule.when.as_ref().filter(|_| !is_false || self.evaluate_all) else {
            return Ok(detected);
        };
        let change_scope = self.rule.as_file_rule().map_or_else(ChangeScope::default, |file| file.scope);
        let missing = match expr::is_true(when, self.situation, change_scope) {
            Ok(value) => {
                let holds = Truth::from(value);
                self.judged.clauses.push(Clause::new("when", holds, when.clone()));
                return Ok(detected.and(holds));
            }
            Err(EvaluationError::Expression(_)) if is_false => return Ok(detected),
            Err(EvaluationError::Expression(error)) => {
                // A broken `when` is a fault, not a demand: there are no files to answer for, so it holds like any
                // other fault.
                self.judged.files = None;
                return Err(self.fault(&format!("`when` cannot be evaluated: {}", error.message)));
            }
            Err(EvaluationError::Missing(missing)) => vec![missing],
            Err(EvaluationError::NotRecorded(names)) => names.into_iter().map(Missing::NotRecorded).collect(),
        };
        let clause = Clause { missing: missing.first().cloned(), ..Clause::new("when", Truth::Unknown, when.clone()) };
        let halt = if is_false { Halt::Outcome(RuleOutcome::Passed) } else { self.halt_without(missing) };
        if let Halt::Outcome(RuleOutcome::Fault(..)) = halt {
            self.judged.files = None;
        } else {
            self.judged.clauses.push(clause);
        }
        Err(halt)
    }

    /// The outcome if every clause is true. A file rule registers its demand.
    fn matched(&mut self) -> Result<RuleOutcome, Halt> {
        match self.judged.files.take() {
            Some(found) => self.register_demand(found),
            None => Ok(RuleOutcome::Matched(self.rule.action)),
        }
    }

    /// Registers the demand of an unmet file rule and drops the triggers that are answered.
    fn register_demand(&mut self, found: FileMatch) -> Result<RuleOutcome, Halt> {
        let matched = RuleOutcome::Matched(self.rule.action);
        let Some(demand) = self.rule.demand_for(&found) else { return Ok(matched) };
        let state = self.situation.facts.register_demand(&demand);
        let DemandState { answered_files, times_asked, is_given_up } =
            state.map_err(|missing| self.halt_without([missing]))?;
        let open = found.without_answered(|trigger| answered_files.contains(&trigger.path));
        let outcome = match open.is_unmet() {
            false => RuleOutcome::Acknowledged,
            true if is_given_up => RuleOutcome::GivenUp,
            true => matched,
        };
        (self.judged.files, self.judged.times_asked) = (Some(open), times_asked);
        Ok(outcome)
    }

    /// The outcome of the rule if facts that it needs are missing.
    fn halt_without(&self, missing: impl IntoIterator<Item = Missing>) -> Halt {
        let mut names = Vec::new();
        for one in missing {
            match one {
                Missing::Unreadable(stored) => return Halt::Skipped(stored),
                Missing::Failed(why) => return self.fault(&why),
                Missing::NotRecorded(name) => names.push(name),
            }
        }
        names.sort();
        names.dedup();
        Halt::Outcome(RuleOutcome::Undecidable(names))
    }

    /// A faulty rule counts as matched unless its `on_error` says otherwise. A faulty `allow` rule approves nothing.
    fn fault(&self, why: &str) -> Halt {
        let level = self.rule.on_error.unwrap_or(self.rule.action);
        Halt::Outcome(RuleOutcome::Fault(level, format!("{} ({})", why, self.rule.source)))
    }
}

const ONLY_OTHERS_CHANGES: &str = "this session changed no file that triggers the rule";

/// True if the rule would be unmet if other sessions' changes were this session's.
fn is_missing_for_others(file: &FileRule, changes: &Changes) -> bool {
    let has_others = changes.own().count() < changes.len();
    has_others && file.judge(&changes.with_own(|_| true)).is_ok_and(|found| found.is_unmet())
}

fn shown_files(found: &FileMatch) -> String {
    if found.is_safe {
        return format!("satisfied by {}", found.matched.join(", "));
    }
    if found.triggers.is_empty() { "nothing is missing".to_owned() } else { file_rules::list_missing(found) }
}

fn incomplete_level(rule: &Rule) -> Option<Level> {
    let Detector::Tool(tool) = &rule.detect else { return None };
    let level = tool.incomplete.unwrap_or(match rule.action {
        Level::Block | Level::Ask => Level::Ask,
        Level::Warn | Level::Allow => Level::Allow,
    });
    (level > Level::Allow).then_some(level)
}
