//! Judges an event by one rule: evaluates the clauses of the rule and derives the outcome.
//!
//! This module handles one rule at a time; the module `decide` combines the outcomes and writes the texts of the
//! findings.

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
    /// The triggers and missing files of a file rule, without the triggers for which the demand was already answered.
    pub(super) file_match: Option<FileMatch>,
    /// How often the file rule has already asked for these files.
    pub(super) times_asked: u32,
    pub(super) pace: Option<PaceJudgement>,
    pub(super) outcome: RuleOutcome,
}

/// The reason why the judgement of a rule ends early.
enum Halt {
    /// The rule is skipped, because a fact cannot be read from this store, or a demand cannot be written to this store.
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
        let judged = Self {
            clauses: Vec::new(),
            file_match: None,
            times_asked: 0,
            pace: None,
            outcome: RuleOutcome::NotApplied,
        };
        let mut judge = RuleJudge { rule, situation, evaluate_all, judged };
        let outcome = match judge.judge(activity) {
            Ok(outcome) | Err(Halt::Outcome(outcome)) => outcome,
            Err(Halt::Skipped(store)) => return Err(store),
        };
        Ok(Self { outcome, ..judge.judged })
    }

    /// The last part of the finding's reason. This part names the command or path because of which the rule matches or
    /// may match. `None` if there is no such command or path, and for a match of an `allow` rule.
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
    /// True if every clause is evaluated, even after a false clause.
    evaluate_all: bool,
    judged: RuleJudgement,
}

impl RuleJudge<'_> {
    fn judge(&mut self, activity: &ActivityCell) -> Result<RuleOutcome, Halt> {
        let detector_truth = match &self.rule.detect {
            Detector::Tool(tool) => self.judge_tool_rule(tool)?,
            Detector::Files(file) => self.judge_file_rule(file)?,
            Detector::Pace(pace) => self.judge_pace_rule(pace, activity)?,
            Detector::Event => Truth::True,
        };
        match self.judge_when(detector_truth)? {
            Truth::False => Ok(RuleOutcome::NotApplied),
            Truth::True => self.conclude_match(),
            Truth::Unknown => Ok(incomplete_level(self.rule).map_or(RuleOutcome::NotApplied, RuleOutcome::Incomplete)),
        }
    }

    fn judge_pace_rule(&mut self, pace: &PaceRule, activity: &ActivityCell) -> Result<Truth, Halt> {
        let judgement = PaceJudgement::of(self.rule, pace, self.situation, activity);
        let Some(judgement) = judgement.map_err(|missing| self.halt_without([missing]))? else {
            return Err(Halt::Outcome(RuleOutcome::NotApplied));
        };
        let truth = judgement.truth();
        self.judged.clauses.push(judgement.clause(pace));
        self.judged.pace = Some(judgement);
        Ok(truth)
    }

    fn judge_file_rule(&mut self, file_rule: &FileRule) -> Result<Truth, Halt> {
        let changes = self.situation.facts.changes(file_rule.scope);
        let Some(changes) = changes.map_err(|missing| self.halt_without([missing]))? else {
            return Err(Halt::Outcome(RuleOutcome::NotApplied));
        };
        let file_match = file_rule.judge(&changes).map_err(|error| self.fault(&error.to_string()))?;
        let truth = file_match.is_unmet().into();
        // Only `explain` also reports that the rule would be unmet if other sessions' changes counted as this
        // session's.
        let only_others =
            self.evaluate_all && file_match.triggers.is_empty() && is_unmet_for_others(file_rule, &changes);
        let shown = if only_others { ONLY_OTHERS_CHANGES.to_owned() } else { describe_files(&file_match) };
        self.judged.clauses.push(Clause::new("files", truth, shown));
        self.judged.file_match = Some(file_match);
        Ok(truth)
    }

    fn judge_tool_rule(&mut self, tool: &ToolRule) -> Result<Truth, Halt> {
        let found = tool.judge(self.situation, self.evaluate_all).map_err(|error| self.fault(&error.to_string()))?;
        let truth = found.truth();
        // A missing fact about paths does not matter if a clause that is not about paths is false.
        let is_false = found.truth_without_paths() == Truth::False;
        let missing: Vec<Missing> = found.missing().filter(|_| !is_false).cloned().collect();
        self.judged.clauses = found.clauses;
        if missing.is_empty() { Ok(truth) } else { Err(self.halt_without(missing)) }
    }

    /// Evaluates `when`, and returns the truth of the whole rule: the detector and `when` must both be true.
    fn judge_when(&mut self, detector_truth: Truth) -> Result<Truth, Halt> {
        let is_false = detector_truth == Truth::False;
        let Some(when) = self.rule.when.as_ref().filter(|_| !is_false || self.evaluate_all) else {
            return Ok(detector_truth);
        };
        let change_scope = self.rule.as_file_rule().map_or_else(ChangeScope::default, |file| file.scope);
        match expr::is_true(when, self.situation, change_scope) {
            Ok(value) => {
                let truth = Truth::from(value);
                self.judged.clauses.push(Clause::new("when", truth, when.clone()));
                Ok(detector_truth.and(truth))
            }
            Err(EvaluationError::Expression(_)) if is_false => Ok(detector_truth),
            Err(EvaluationError::Expression(error)) => {
                // A file rule whose `when` fails makes no demand. The rule holds the stop like any other faulty rule.
                self.judged.file_match = None;
                Err(self.fault(&format!("`when` cannot be evaluated: {}", error.message)))
            }
            Err(EvaluationError::Missing(missing)) => Err(self.halt_when(when, vec![missing], is_false)),
            Err(EvaluationError::NotRecorded(names)) => {
                Err(self.halt_when(when, names.into_iter().map(Missing::NotRecorded).collect(), is_false))
            }
        }
    }

    /// Returns how the judgement ends if facts that `when` needs are missing. `is_false`: the rule's other clauses are
    /// false, so the rule does not apply, whatever the value of `when` is.
    fn halt_when(&mut self, when: &str, missing: Vec<Missing>, is_false: bool) -> Halt {
        let clause =
            Clause { missing: missing.first().cloned(), ..Clause::new("when", Truth::Unknown, when.to_owned()) };
        let halt = if is_false { Halt::Outcome(RuleOutcome::NotApplied) } else { self.halt_without(missing) };
        if let Halt::Outcome(RuleOutcome::Fault(..)) = halt {
            self.judged.file_match = None;
        } else {
            self.judged.clauses.push(clause);
        }
        halt
    }

    /// Returns the outcome of a rule whose clauses are all true. Also finds the demand of a file rule in the queue, or
    /// writes the demand to the queue.
    fn conclude_match(&mut self) -> Result<RuleOutcome, Halt> {
        match self.judged.file_match.take() {
            Some(file_match) => self.conclude_file_match(file_match),
            None => Ok(RuleOutcome::Matched(self.rule.action)),
        }
    }

    /// Finds the demand of an unmet file rule in the queue or writes the demand to the queue, and removes the triggers
    /// for which the demand was already answered.
    fn conclude_file_match(&mut self, file_match: FileMatch) -> Result<RuleOutcome, Halt> {
        let matched = RuleOutcome::Matched(self.rule.action);
        let Some(demand) = self.rule.possible_demand(&file_match) else { return Ok(matched) };
        let state = self.situation.facts.find_or_write_demand(&demand);
        let DemandState { answered_files, times_asked, is_given_up } =
            state.map_err(|missing| self.halt_without([missing]))?;
        let open = file_match.without_answered(|trigger| answered_files.contains(&trigger.path));
        let outcome = match open.is_unmet() {
            false => RuleOutcome::Acknowledged,
            true if is_given_up => RuleOutcome::GivenUp,
            true => matched,
        };
        (self.judged.file_match, self.judged.times_asked) = (Some(open), times_asked);
        Ok(outcome)
    }

    /// Returns how the judgement of a rule ends if facts are missing: the rule is skipped, faulty or undecidable.
    fn halt_without(&self, missing: impl IntoIterator<Item = Missing>) -> Halt {
        let mut names = Vec::new();
        for one in missing {
            match one {
                Missing::Unavailable(store) => return Halt::Skipped(store),
                Missing::Failed(why) => return self.fault(&why),
                Missing::NotRecorded(name) => names.push(name),
            }
        }
        names.sort();
        names.dedup();
        Halt::Outcome(RuleOutcome::Undecidable(names))
    }

    /// Returns the outcome of a faulty rule: the rule counts as matched, with the level of `on_error` or, if the rule
    /// does not have this key, the level of `action`. A faulty `allow` rule approves nothing.
    fn fault(&self, why: &str) -> Halt {
        let level = self.rule.on_error.unwrap_or(self.rule.action);
        Halt::Outcome(RuleOutcome::Fault(level, format!("{} ({})", why, self.rule.source)))
    }
}

const ONLY_OTHERS_CHANGES: &str = "this session changed no file that triggers the rule";

/// True if the rule would be unmet if this session had made the changes of all sessions.
fn is_unmet_for_others(file_rule: &FileRule, changes: &Changes) -> bool {
    let has_others = changes.own().count() < changes.len();
    has_others && file_rule.judge(&changes.with_own(|_| true)).is_ok_and(|file_match| file_match.is_unmet())
}

fn describe_files(file_match: &FileMatch) -> String {
    if file_match.is_satisfied_by_safety {
        return format!("satisfied by {}", file_match.satisfied_by.join(", "));
    }
    if file_match.triggers.is_empty() { "nothing is missing".to_owned() } else { file_rules::list_missing(file_match) }
}

/// The level of a finding about a rule that may match, because a part of the command is unknown; `None` if there is no
/// finding in this case.
fn incomplete_level(rule: &Rule) -> Option<Level> {
    let Detector::Tool(tool) = &rule.detect else { return None };
    let level = tool.incomplete.unwrap_or(match rule.action {
        Level::Block | Level::Ask => Level::Ask,
        Level::Warn | Level::Allow => Level::Allow,
    });
    (level > Level::Allow).then_some(level)
}
