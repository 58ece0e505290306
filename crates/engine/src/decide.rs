//! The judgement: which rules speak of an event, and what they say together.

mod coverage;
mod pacing;

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use crate::expr::{self, EvaluationError};
use crate::facts::{Answered, Missing};
use crate::file_rules::{self, Changes, FileMatch, FileRule, Placeholders, Reach};
use crate::rules::{AckBy, Clause, Detect, Rule, RuleSet, RuleSetError, Subject, ToolMatch, Truth};
use crate::situation::Situation;
use crate::verdict::{Finding, Level, Section, Verdict};

use coverage::Coverage;
pub use pacing::PaceMemory;
use pacing::{Happened, Paced};

/// One question to the rules.
pub struct Inquiry<'a> {
    pub situation: &'a Arc<Situation>,
    pub rules: &'a RuleSet,
    /// Judge every clause of every rule that is about this kind of event, and tell of each: for `explain`.
    pub thorough: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    /// The rules that hold this stop, each with how often it has now done so.
    pub holds: Vec<(String, u32)>,
    /// What file rules ask for, in order of the rules.
    pub demands: Vec<Demand>,
    /// What pace rules have to remember.
    pub pace: Vec<PaceMemory>,
    /// The file rules that were judged by changes that somebody knows.
    pub file_rules: Vec<String>,
    /// The rules that could not be judged because stored facts they need cannot be read.
    pub skipped: Vec<String>,
    /// The rules that need what is not known. Only a judgement by a record has any.
    pub undecided: Vec<Undecided>,
    /// What each rule made of the event; only where the inquiry is thorough.
    pub considered: Vec<Consideration>,
}

/// A rule of which nobody can say what it would have said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    pub rule: String,
    pub digest: String,
    /// The strictest that it could have said.
    pub most: Level,
    /// What it needs, by name; sorted.
    pub facts: Vec<String>,
}

/// What a file rule asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    pub rule: Rule,
    /// What is still open.
    pub found: FileMatch,
    /// It held the stop as often as it may, and lets go now: what the person is told of that.
    pub let_go: Option<String>,
    /// How often the session, or the subagent, was asked before.
    pub asked_before: u32,
}

/// One rule's work on one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Consideration {
    pub rule: Rule,
    pub clauses: Vec<Clause>,
    /// What a file rule saw.
    pub files: Option<FileMatch>,
    pub outcome: Outcome,
    /// It held as often as it may, and only warns now.
    pub lets_go: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A clause is false.
    Passed,
    /// Every clause is true.
    Matched(Level),
    /// No clause is false and one is unknown.
    Incomplete(Level),
    /// The rule could not be judged; the text says why.
    Fault(Level, String),
    /// It would warn or hold, and was acknowledged in this session.
    Acknowledged,
    /// It asked for what is missing as often as it may, and does not go on about it.
    GivenUp,
    /// The rule needs these facts, and they are not known.
    Undecidable(Vec<String>),
}

impl Outcome {
    /// What the rule asks for; `None` where it has nothing to say.
    fn level(&self) -> Option<Level> {
        match self {
            Self::Passed | Self::Acknowledged | Self::GivenUp | Self::Undecidable(_) => None,
            Self::Matched(level) | Self::Incomplete(level) | Self::Fault(level, _) => Some(*level),
        }
    }
}

pub fn decide(inquiry: &Inquiry) -> Result<Decision, RuleSetError> {
    let situation = inquiry.situation;
    let rules = if inquiry.thorough { inquiry.rules.all()? } else { inquiry.rules.candidates(situation)? };
    let mut decision = Decision {
        verdict: Verdict::silent(),
        holds: Vec::new(),
        demands: Vec::new(),
        pace: Vec::new(),
        file_rules: Vec::new(),
        skipped: Vec::new(),
        undecided: Vec::new(),
        considered: Vec::new(),
    };
    let mut findings = Vec::new();
    let mut coverage = Coverage::new(situation);
    let happening = OnceCell::new();
    for rule in rules {
        if !rule.on.contains(situation.event.kind) {
            continue;
        }
        let Ok(mut judged) = judge(&rule, situation, inquiry.thorough, &happening) else {
            decision.skipped.push(rule.id);
            continue;
        };
        if is_acknowledged(&rule, &judged, situation) {
            judged.outcome = Outcome::Acknowledged;
        }
        // What was given up is as open as it was.
        if judged.files.is_some() && judged.outcome != Outcome::GivenUp {
            decision.file_rules.push(rule.id.clone());
        }
        if let (Some(pace), Some(paced)) = (rule.as_pace_rule(), &judged.pace) {
            let after = paced.settle(&rule, pace, &judged.outcome, situation);
            judged.outcome = after.outcome;
            decision.pace.extend(after.memory);
            decision.verdict.notices.extend(after.notice);
        }
        if rule.action == Level::Allow && matches!(judged.outcome, Outcome::Matched(_)) {
            coverage.add(&rule);
        }
        if let Outcome::Undecidable(facts) = &judged.outcome {
            decision.undecided.push(Undecided::of(&rule, facts));
        }
        let mut lets_go = false;
        if let Some(level) = judged.outcome.level() {
            // A hold that cannot be counted could go on for ever.
            let Ok(finding) = decision.finding(&rule, level, &judged, inquiry) else {
                decision.skipped.push(rule.id);
                continue;
            };
            lets_go = finding.level < level;
            findings.push((finding, matches!(judged.outcome, Outcome::Incomplete(_))));
        }
        if inquiry.thorough {
            let RuleJudged { clauses, files, outcome, .. } = judged;
            decision.considered.push(Consideration { rule, clauses, files, outcome, lets_go });
        }
    }
    let notices = std::mem::take(&mut decision.verdict.notices);
    decision.verdict = Verdict { notices, ..Verdict::of(say_once(findings, situation)) };
    decision.approve(&coverage);
    Ok(decision)
}

/// An acknowledgement settles a warning or a hold; whatever else a rule says, it says every time.
fn is_acknowledged(rule: &Rule, judged: &RuleJudged, situation: &Situation) -> bool {
    // What a file rule asks for is answered file by file.
    rule.as_file_rule().is_none()
        && judged.outcome.level().is_some_and(|level| {
            (level == Level::Warn || (level > Level::Warn && situation.event.kind.is_stop()))
                && situation.facts.acknowledged(&rule.id, &rule.digest)
        })
}

const UNKNOWABLE: &str = "What the call would do cannot be known before it runs; it may be what";

/// A command that cannot be read may be what any rule about commands means. That is said once, not once a rule.
fn say_once(findings: Vec<(Finding, bool)>, situation: &Situation) -> Vec<Finding> {
    let gap = situation.script().and_then(|script| script.gaps.first());
    let (vague, mut said): (Vec<_>, Vec<_>) = findings.into_iter().partition(|(_, vague)| *vague && gap.is_some());
    let (Some(gap), Some(level)) = (gap, vague.iter().map(|(finding, _)| finding.level).max()) else {
        return said.into_iter().chain(vague).map(|(finding, _)| finding).collect();
    };
    let mut rules: Vec<String> = vague
        .iter()
        .filter(|(finding, _)| finding.level == level)
        .map(|(finding, _)| format!("`{}`", finding.rule))
        .collect();
    let rest = rules.len().saturating_sub(RULES_NAMED);
    rules.truncate(RULES_NAMED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let reason = format!(
        "{gap}. {UNKNOWABLE} these rules are about: {}{more}. Write it more simply, or in steps.",
        rules.join(", ")
    );
    let reason = reason.chars().take(1).flat_map(char::to_uppercase).chain(reason.chars().skip(1)).collect();
    let protects_guard = vague.iter().any(|(finding, _)| finding.protects_guard);
    let rule = vague.into_iter().map(|(finding, _)| finding).find(|finding| finding.level == level);
    said.extend(rule.map(|finding| (Finding { reason, protects_guard, is_shared: true, ..finding }, true)));
    said.into_iter().map(|(finding, _)| finding).collect()
}

/// The path because of which nobody knows whether the rule is met.
fn named_path(clauses: &[Clause]) -> Option<&str> {
    clauses
        .iter()
        .filter(|clause| clause.is_about_paths())
        .find(|clause| clause.truth == Truth::Unknown)
        .map(|clause| clause.shown.as_str())
}

const RULES_NAMED: usize = 5;
/// For a rule of which nobody said how often it may hold a stop.
const DEFAULT_MAX_HOLDS: u32 = 3;

struct RuleJudged {
    clauses: Vec<Clause>,
    /// What a file rule saw, and of what it asks for, what is open.
    files: Option<FileMatch>,
    /// How often a file rule has asked for that.
    shown: u32,
    pace: Option<Paced>,
    outcome: Outcome,
}

impl RuleJudged {
    /// What made the rule speak, in words. What is allowed needs none.
    fn subject(&self, situation: &Situation) -> Option<String> {
        let truth = match self.outcome {
            Outcome::Matched(level) if level > Level::Allow => Truth::True,
            Outcome::Incomplete(_) => Truth::Unknown,
            _ => return None,
        };
        Subject::told(&self.clauses, truth, situation)
    }
}

fn with_subject(reason: String, subject: Option<String>) -> String {
    let is_one_paragraph = !reason.contains("\n\n");
    match subject {
        None => reason,
        Some(subject) if is_one_paragraph => format!("{reason} {subject}"),
        Some(subject) => format!("{reason}\n\n{subject}"),
    }
}

/// A fact that the rule needs is stored and cannot be read now.
struct Skipped;

/// What a missing fact makes of the rule that asked for it.
fn outcome_without(rule: &Rule, missing: Missing) -> Result<Outcome, Skipped> {
    match missing {
        Missing::Unreadable(_) => Err(Skipped),
        Missing::NotRecorded(fact) => Ok(Outcome::Undecidable(vec![fact])),
        Missing::Failed(why) => Ok(fault(rule, &why)),
    }
}

fn judge(rule: &Rule, situation: &Arc<Situation>, thorough: bool, happening: &Happened) -> Result<RuleJudged, Skipped> {
    let mut judged = RuleJudged { clauses: Vec::new(), files: None, shown: 0, pace: None, outcome: Outcome::Passed };
    let mut truth = Truth::True;
    if let Detect::Pace(pace) = &rule.detect {
        match Paced::of(rule, pace, situation, happening) {
            Ok(Some(paced)) => {
                truth = paced.is_too_much();
                judged.clauses.push(paced.clause(pace));
                judged.pace = Some(paced);
            }
            Ok(None) => return Ok(judged),
            Err(missing) => {
                judged.outcome = outcome_without(rule, missing)?;
                return Ok(judged);
            }
        }
    }
    if let Detect::Files(file) = &rule.detect {
        let changes = match situation.facts.changes(file.reach) {
            Ok(Some(changes)) => changes,
            Ok(None) => return Ok(judged),
            Err(missing) => {
                judged.outcome = outcome_without(rule, missing)?;
                return Ok(judged);
            }
        };
        match file.judge(&changes) {
            Ok(found) => {
                truth = found.is_unmet().into();
                // To look again at what others changed is only worth it where somebody reads it.
                let others = thorough && found.triggers.is_empty() && is_missing_for_others(file, &changes);
                let shown = if others { NOT_ITS_OWN.to_owned() } else { shown_files(&found) };
                judged.clauses.push(Clause::new("files", truth, shown));
                judged.files = Some(found);
            }
            Err(error) => {
                judged.outcome = fault(rule, &error.to_string());
                return Ok(judged);
            }
        }
    }
    if let Detect::Tool(tool) = &rule.detect {
        match tool.judge(situation, thorough) {
            Ok(found) => {
                truth = found.truth();
                // Of paths that are not known, what the clauses about them say counts for nothing.
                let missing = missing_of(rule, &found)?;
                judged.clauses = found.clauses;
                if let Some(outcome) = missing {
                    judged.outcome = outcome;
                    return Ok(judged);
                }
            }
            Err(error) => {
                judged.outcome = fault(rule, &error.to_string());
                return Ok(judged);
            }
        }
    }
    if let Some(when) = &rule.when
        && (truth != Truth::False || thorough)
    {
        let reach = rule.as_file_rule().map_or_else(Reach::default, |file| file.reach);
        let is_false = truth == Truth::False;
        match expr::holds(when, situation, reach) {
            Ok(value) => {
                let holds = Truth::from(value);
                judged.clauses.push(Clause::new("when", holds, when.clone()));
                truth = truth.and(holds);
            }
            Err(EvaluationError::Missing(missing)) => {
                let outcome = if is_false { Outcome::Passed } else { outcome_without(rule, missing.clone())? };
                if let Outcome::Fault(..) = outcome {
                    judged.files = None;
                } else {
                    let clause = Clause::new("when", Truth::Unknown, when.clone());
                    judged.clauses.push(Clause { missing: Some(missing), ..clause });
                }
                judged.outcome = outcome;
                return Ok(judged);
            }
            Err(EvaluationError::Expression(_)) if is_false => {}
            Err(EvaluationError::Expression(error)) => {
                // It asks for nothing that could be answered, and holds as any rule at fault does.
                judged.files = None;
                judged.outcome = fault(rule, &format!("`when` cannot be evaluated: {}", error.message));
                return Ok(judged);
            }
        }
    }
    judged.outcome = match truth {
        Truth::False => Outcome::Passed,
        Truth::True => Outcome::Matched(rule.action),
        Truth::Unknown => incomplete_level(rule).map_or(Outcome::Passed, Outcome::Incomplete),
    };
    judged.answer(rule, situation)?;
    Ok(judged)
}

/// What becomes of a tool rule that depends on facts that are missing; `None` where it depends on none, or is false without
/// them.
fn missing_of(rule: &Rule, found: &ToolMatch) -> Result<Option<Outcome>, Skipped> {
    if found.truth_but_for_paths() == Truth::False {
        return Ok(None);
    }
    let mut names = Vec::new();
    for missing in found.missing() {
        match outcome_without(rule, missing.clone())? {
            Outcome::Undecidable(facts) => names.extend(facts),
            outcome => return Ok(Some(outcome)),
        }
    }
    names.sort();
    names.dedup();
    Ok((!names.is_empty()).then_some(Outcome::Undecidable(names)))
}

impl RuleJudged {
    /// Takes what somebody has answered for out of what a file rule asks for.
    fn answer(&mut self, rule: &Rule, situation: &Situation) -> Result<(), Skipped> {
        let Some(found) = self.files.take_if(|_| matches!(self.outcome, Outcome::Matched(_))) else { return Ok(()) };
        let Answered { settled, shown, is_given_up } = match situation.facts.answered(rule, &found) {
            Ok(answered) => answered,
            Err(missing) => {
                self.outcome = outcome_without(rule, missing)?;
                return Ok(());
            }
        };
        let settled: HashSet<String> = settled.into_iter().collect();
        let open = found.without(|trigger| settled.contains(&trigger.path));
        if !open.is_unmet() {
            self.outcome = Outcome::Acknowledged;
        } else if is_given_up {
            self.outcome = Outcome::GivenUp;
        }
        (self.files, self.shown) = (Some(open), shown);
        Ok(())
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

impl Undecided {
    pub fn of(rule: &Rule, facts: &[String]) -> Self {
        let most = rule.on_error.map_or(rule.action, |level| level.max(rule.action));
        Self { rule: rule.id.clone(), digest: rule.digest.clone(), most, facts: facts.to_vec() }
    }
}

/// A rule that fails counts as matched unless it says otherwise; but a failing `allow` approves nothing.
fn fault(rule: &Rule, why: &str) -> Outcome {
    let level = rule.on_error.unwrap_or(rule.action);
    Outcome::Fault(level, format!("{} ({})", why, rule.source))
}

fn incomplete_level(rule: &Rule) -> Option<Level> {
    let Detect::Tool(tool) = &rule.detect else { return None };
    let level = tool.incomplete.unwrap_or(match rule.action {
        Level::Block | Level::Ask => Level::Ask,
        Level::Warn | Level::Allow => Level::Allow,
    });
    (level > Level::Allow).then_some(level)
}

impl Decision {
    /// What `allow` rules say is an approval where nothing stricter is said and they cover the whole call.
    fn approve(&mut self, coverage: &Coverage) {
        let verdict = &mut self.verdict;
        if !coverage.situation.event.kind.awaits_permission() {
            return;
        }
        let mut allowing = verdict.findings.iter_mut().filter(|finding| finding.level == Level::Allow).peekable();
        if allowing.peek().is_none() {
            return;
        }
        let lack = if verdict.level > Level::Allow { Some(STRICTER.to_owned()) } else { coverage.lack() };
        verdict.approved = lack.is_none();
        if let Some(why) = lack {
            allowing.for_each(|finding| finding.approves_nothing(&why));
        }
    }

    fn finding(
        &mut self,
        rule: &Rule,
        level: Level,
        judged: &RuleJudged,
        inquiry: &Inquiry,
    ) -> Result<Finding, Missing> {
        let because = judged
            .clauses
            .iter()
            .filter(|clause| clause.truth != Truth::False)
            .map(|clause| format!("{}: {}", clause.key, clause.shown))
            .collect();
        let reason = match &judged.outcome {
            Outcome::Fault(_, why) => {
                let fault = format!("The rule itself is at fault and counts as matched: {why}.");
                [rule.reason.trim_end(), &fault].join("\n\n").trim_start().to_owned()
            }
            Outcome::Incomplete(_) => match named_path(&judged.clauses) {
                Some(path) => {
                    format!(
                        "What becomes of `{path}` cannot be known before it runs; it may be what this rule is about. {}",
                        rule.reason
                    )
                }
                None => format!("{UNKNOWABLE} this rule is about. {}", rule.reason),
            },
            Outcome::Matched(_)
            | Outcome::Passed
            | Outcome::Acknowledged
            | Outcome::GivenUp
            | Outcome::Undecidable(_) => match (&judged.files, &judged.pace) {
                (Some(found), _) => section(rule, found),
                (None, Some(paced)) => paced.interrupt(rule),
                (None, _) => rule.reason.clone(),
            },
        };
        let reason = with_subject(reason, judged.subject(inquiry.situation));
        let kind = inquiry.situation.event.kind;
        let holds = level == Level::Block && kind.is_stop();
        let level = match &judged.files {
            Some(found) => self.demand(rule, found, judged.shown, level, holds),
            None if holds && self.hold(rule, inquiry)?.is_some() => Level::Warn,
            None => level,
        };
        Ok(Finding {
            rule: rule.id.clone(),
            level,
            reason,
            because,
            digest: Some(rule.digest.clone()),
            protects_guard: rule.protects_guard(),
            section: judged.files.as_ref().map(|_| section_kind(rule)),
            is_shared: false,
        })
    }

    /// A file rule holds as often as it was asked to, however many stops that takes.
    fn demand(&mut self, rule: &Rule, found: &FileMatch, shown: u32, level: Level, holds: bool) -> Level {
        let let_go = (holds && shown >= most_holds(rule)).then(|| self.let_go(rule, shown));
        let level = if let_go.is_some() { Level::Warn } else { level };
        self.demands.push(Demand { rule: rule.clone(), found: found.clone(), let_go, asked_before: shown });
        level
    }

    /// A hold has a cap; a rule that has reached it lets go, and the person is told: what is returned.
    fn hold(&mut self, rule: &Rule, inquiry: &Inquiry) -> Result<Option<String>, Missing> {
        let held = inquiry.situation.facts.holds(&rule.id)?;
        if held >= most_holds(rule) {
            return Ok(Some(self.let_go(rule, held)));
        }
        self.holds.push((rule.id.clone(), held + 1));
        Ok(None)
    }

    fn let_go(&mut self, rule: &Rule, held: u32) -> String {
        let notice = let_go(rule, held, most_holds(rule));
        self.verdict.notices.push(notice.clone());
        notice
    }

    /// What a file rule asked for has been done after all, so it says nothing.
    pub fn withdraw(&mut self, demand: &Demand) {
        let rule = &demand.rule.id;
        self.verdict.findings.retain(|finding| finding.rule != *rule);
        self.verdict.notices.retain(|notice| demand.let_go.as_ref() != Some(notice));
        self.holds.retain(|(held, _)| held != rule);
    }
}

/// How often a rule may hold a stop.
pub fn most_holds(rule: &Rule) -> u32 {
    rule.max_holds.unwrap_or(DEFAULT_MAX_HOLDS)
}

fn let_go(rule: &Rule, held: u32, most: u32) -> String {
    let times = if held == 1 { "once".to_owned() } else { format!("{held} times") };
    format!("rule `{}` held this stop {times} and was not met; it lets go now (max_holds: {most})", rule.id)
}

fn section_kind(rule: &Rule) -> Section {
    match rule.ack {
        AckBy::Agent => Section::Demand,
        AckBy::Human => Section::PersonsDemand,
    }
}

/// What a file rule asks for, under its title.
pub fn section(rule: &Rule, found: &FileMatch) -> String {
    let body = Placeholders(found).fill(&rule.reason);
    format!("## {}\n{}\n\n{}", rule.shown_title(), file_rules::listed(found), body.trim())
}

/// Of an `allow` rule beside others.
const STRICTER: &str = "another rule speaks, and is stricter";
