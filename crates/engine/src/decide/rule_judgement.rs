//! One rule, judged on one event: its clauses, and what they come to.
//!
//! Knows one rule at a time. What rules say together, and how it is worded, is for `decide`.

use std::collections::HashSet;
use std::sync::Arc;

use super::RuleOutcome;
use super::pace_judgement::{Happened, Paced};
use crate::expr::{self, EvaluationError};
use crate::facts::{DemandState, Missing};
use crate::file_rules::{self, ChangeScope, Changes, FileMatch, FileRule};
use crate::pace::PaceRule;
use crate::rules::{Clause, Detector, Rule, ToolRule, Truth};
use crate::situation::Situation;
use crate::verdict::Level;

pub(super) struct RuleJudgement {
    pub(super) clauses: Vec<Clause>,
    /// What a file rule saw, and of what it asks for, what is open.
    pub(super) files: Option<FileMatch>,
    /// How often a file rule has asked for that.
    pub(super) shown: u32,
    pub(super) pace: Option<Paced>,
    pub(super) outcome: RuleOutcome,
}

/// A fact that the rule needs is stored and cannot be read now.
pub(super) struct Skipped;

/// The rest of the rule is not judged.
enum Halt {
    Skipped,
    /// What has been found out is enough.
    Settled(RuleOutcome),
}

impl RuleJudgement {
    pub(super) fn of(
        rule: &Rule,
        situation: &Arc<Situation>,
        thorough: bool,
        happening: &Happened,
    ) -> Result<Self, Skipped> {
        let judged = Self { clauses: Vec::new(), files: None, shown: 0, pace: None, outcome: RuleOutcome::Passed };
        let mut judge = RuleJudge { rule, situation, thorough, judged };
        let outcome = match judge.outcome(happening) {
            Ok(outcome) | Err(Halt::Settled(outcome)) => outcome,
            Err(Halt::Skipped) => return Err(Skipped),
        };
        Ok(Self { outcome, ..judge.judged })
    }

    /// What made the rule speak, in words. What is allowed needs none.
    pub(super) fn subject(&self, situation: &Situation) -> Option<String> {
        let truth = match self.outcome {
            RuleOutcome::Matched(level) if level > Level::Allow => Truth::True,
            RuleOutcome::Incomplete(_) => Truth::Unknown,
            _ => return None,
        };
        Clause::told_subject(&self.clauses, truth, situation)
    }
}

struct RuleJudge<'a> {
    rule: &'a Rule,
    situation: &'a Arc<Situation>,
    /// Judge every clause.
    thorough: bool,
    judged: RuleJudgement,
}

impl RuleJudge<'_> {
    fn outcome(&mut self, happening: &Happened) -> Result<RuleOutcome, Halt> {
        let detected = match &self.rule.detect {
            Detector::Tool(tool) => self.tool(tool)?,
            Detector::Files(file) => self.files(file)?,
            Detector::Pace(pace) => self.pace(pace, happening)?,
            Detector::Event => Truth::True,
        };
        match self.when(detected)? {
            Truth::False => Ok(RuleOutcome::Passed),
            Truth::True => self.without_answered(),
            Truth::Unknown => Ok(incomplete_level(self.rule).map_or(RuleOutcome::Passed, RuleOutcome::Incomplete)),
        }
    }

    fn pace(&mut self, pace: &PaceRule, happening: &Happened) -> Result<Truth, Halt> {
        let paced = Paced::of(self.rule, pace, self.situation, happening);
        let Some(paced) = paced.map_err(|missing| self.without([missing]))? else {
            return Err(Halt::Settled(RuleOutcome::Passed));
        };
        let truth = paced.is_too_much();
        self.judged.clauses.push(paced.clause(pace));
        self.judged.pace = Some(paced);
        Ok(truth)
    }

    fn files(&mut self, file: &FileRule) -> Result<Truth, Halt> {
        let changes = self.situation.facts.changes(file.reach);
        let Some(changes) = changes.map_err(|missing| self.without([missing]))? else {
            return Err(Halt::Settled(RuleOutcome::Passed));
        };
        let found = file.judge(&changes).map_err(|error| self.fault(&error.to_string()))?;
        let truth = found.is_unmet().into();
        // To look again at what others changed is only worth it where somebody reads it.
        let others = self.thorough && found.triggers.is_empty() && is_missing_for_others(file, &changes);
        let shown = if others { NOT_ITS_OWN.to_owned() } else { shown_files(&found) };
        self.judged.clauses.push(Clause::new("files", truth, shown));
        self.judged.files = Some(found);
        Ok(truth)
    }

    fn tool(&mut self, tool: &ToolRule) -> Result<Truth, Halt> {
        let found = tool.judge(self.situation, self.thorough).map_err(|error| self.fault(&error.to_string()))?;
        let truth = found.truth();
        // What clauses say of paths that are not known counts for nothing.
        let is_false = found.truth_but_for_paths() == Truth::False;
        let missing: Vec<Missing> = found.missing().filter(|_| !is_false).cloned().collect();
        self.judged.clauses = found.clauses;
        if missing.is_empty() { Ok(truth) } else { Err(self.without(missing)) }
    }

    /// `detected`: how the rule notices. Both have to hold.
    fn when(&mut self, detected: Truth) -> Result<Truth, Halt> {
        let is_false = detected == Truth::False;
        let Some(when) = self.rule.when.as_ref().filter(|_| !is_false || self.thorough) else { return Ok(detected) };
        let reach = self.rule.as_file_rule().map_or_else(ChangeScope::default, |file| file.reach);
        let missing = match expr::holds(when, self.situation, reach) {
            Ok(value) => {
                let holds = Truth::from(value);
                self.judged.clauses.push(Clause::new("when", holds, when.clone()));
                return Ok(detected.and(holds));
            }
            Err(EvaluationError::Expression(_)) if is_false => return Ok(detected),
            Err(EvaluationError::Expression(error)) => {
                // It asks for nothing that could be answered, and holds as any rule at fault does.
                self.judged.files = None;
                return Err(self.fault(&format!("`when` cannot be evaluated: {}", error.message)));
            }
            Err(EvaluationError::Missing(missing)) => vec![missing],
            Err(EvaluationError::NotRecorded(names)) => names.into_iter().map(Missing::NotRecorded).collect(),
        };
        let clause = Clause { missing: missing.first().cloned(), ..Clause::new("when", Truth::Unknown, when.clone()) };
        let halt = if is_false { Halt::Settled(RuleOutcome::Passed) } else { self.without(missing) };
        if let Halt::Settled(RuleOutcome::Fault(..)) = halt {
            self.judged.files = None;
        } else {
            self.judged.clauses.push(clause);
        }
        Err(halt)
    }

    /// Takes what somebody has answered for out of what a file rule asks for.
    fn without_answered(&mut self) -> Result<RuleOutcome, Halt> {
        let matched = RuleOutcome::Matched(self.rule.action);
        let Some(found) = self.judged.files.take() else { return Ok(matched) };
        let Some(demand) = self.rule.demand(&found) else { return Ok(matched) };
        let answered = self.situation.facts.answered(&demand);
        let DemandState { settled, shown, is_given_up } = answered.map_err(|missing| self.without([missing]))?;
        let settled: HashSet<String> = settled.into_iter().collect();
        let open = found.without(|trigger| settled.contains(&trigger.path));
        let outcome = match open.is_unmet() {
            false => RuleOutcome::Acknowledged,
            true if is_given_up => RuleOutcome::GivenUp,
            true => matched,
        };
        (self.judged.files, self.judged.shown) = (Some(open), shown);
        Ok(outcome)
    }

    /// What becomes of the rule without facts that it depends on.
    fn without(&self, missing: impl IntoIterator<Item = Missing>) -> Halt {
        let mut names = Vec::new();
        for one in missing {
            match one {
                Missing::Unreadable(_) => return Halt::Skipped,
                Missing::Failed(why) => return self.fault(&why),
                Missing::NotRecorded(name) => names.push(name),
            }
        }
        names.sort();
        names.dedup();
        Halt::Settled(RuleOutcome::Undecidable(names))
    }

    /// A rule that fails counts as matched unless it says otherwise; but a failing `allow` approves nothing.
    fn fault(&self, why: &str) -> Halt {
        let level = self.rule.on_error.unwrap_or(self.rule.action);
        Halt::Settled(RuleOutcome::Fault(level, format!("{} ({})", why, self.rule.source)))
    }
}

const NOT_ITS_OWN: &str = "nothing that this session changed asks for it";

/// Whether something would be missing if what other sessions changed were this one's.
fn is_missing_for_others(file: &FileRule, changes: &Changes) -> bool {
    let has_others = changes.own().count() < changes.len();
    has_others && file.judge(&changes.owned(|_| true)).is_ok_and(|found| found.is_unmet())
}

fn shown_files(found: &FileMatch) -> String {
    if found.is_silenced {
        return format!("answered by {}", found.matched.join(", "));
    }
    if found.triggers.is_empty() { "nothing is missing".to_owned() } else { file_rules::listed(found) }
}

fn incomplete_level(rule: &Rule) -> Option<Level> {
    let Detector::Tool(tool) = &rule.detect else { return None };
    let level = tool.incomplete.unwrap_or(match rule.action {
        Level::Block | Level::Ask => Level::Ask,
        Level::Warn | Level::Allow => Level::Allow,
    });
    (level > Level::Allow).then_some(level)
}
