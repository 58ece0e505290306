//! The judgement: which rules speak of an event, and what they say together.

mod activity;
mod coverage;
mod pace_judgement;
mod rule_judgement;

use std::cell::OnceCell;
use std::sync::Arc;

use crate::facts::Missing;
use crate::file_rules::{self, FileMatch, Placeholders};
use crate::rules::{AckBy, Clause, Rule, RuleSet, RuleSetError, Truth};
use crate::situation::Situation;
use crate::verdict::{Finding, Level, SectionKind, Verdict};

use coverage::Coverage;
use pace_judgement::Happened;
pub use pace_judgement::PaceUpdate;
use rule_judgement::RuleJudgement;

/// One question to the rules.
pub struct DecisionRequest<'a> {
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
    pub pace: Vec<PaceUpdate>,
    /// The file rules that were judged by changes that somebody knows.
    pub file_rules: Vec<String>,
    /// The rules that could not be judged because stored facts they need cannot be read.
    pub skipped: Vec<String>,
    /// The rules that need what is not known. Only a judgement by a record has any.
    pub undecided: Vec<UndecidedRule>,
    /// What each rule made of the event; only where the inquiry is thorough.
    pub considered: Vec<ConsideredRule>,
}

/// A rule of which nobody can say what it would have said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndecidedRule {
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
pub struct ConsideredRule {
    pub rule: Rule,
    pub clauses: Vec<Clause>,
    /// What a file rule saw.
    pub files: Option<FileMatch>,
    pub outcome: RuleOutcome,
    /// It held as often as it may, and only warns now.
    pub lets_go: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RuleOutcome {
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

impl RuleOutcome {
    /// What the rule asks for; `None` where it has nothing to say.
    fn level(&self) -> Option<Level> {
        match self {
            Self::Passed | Self::Acknowledged | Self::GivenUp | Self::Undecidable(_) => None,
            Self::Matched(level) | Self::Incomplete(level) | Self::Fault(level, _) => Some(*level),
        }
    }
}

pub fn decide(inquiry: &DecisionRequest) -> Result<Decision, RuleSetError> {
    let situation = inquiry.situation;
    let rules = if inquiry.thorough { inquiry.rules.all()? } else { inquiry.rules.candidates(situation)? };
    let mut deliberation = Deliberation {
        inquiry,
        decision: Decision::silent(),
        findings: Vec::new(),
        coverage: Coverage::new(situation),
        happening: OnceCell::new(),
    };
    for rule in rules.into_iter().filter(|rule| rule.on.contains(situation.event.kind)) {
        deliberation.add(rule);
    }
    Ok(deliberation.conclude())
}

/// A decision while rules are still being judged.
struct Deliberation<'a> {
    inquiry: &'a DecisionRequest<'a>,
    decision: Decision,
    /// Each with whether it is about a command that cannot be known.
    findings: Vec<(Finding, bool)>,
    coverage: Coverage<'a>,
    happening: Happened,
}

impl Deliberation<'_> {
    fn add(&mut self, rule: Rule) {
        let DecisionRequest { situation, thorough, .. } = *self.inquiry;
        let decision = &mut self.decision;
        let Ok(mut judged) = RuleJudgement::of(&rule, situation, thorough, &self.happening) else {
            decision.skipped.push(rule.id);
            return;
        };
        if is_acknowledged(&rule, &judged, situation) {
            judged.outcome = RuleOutcome::Acknowledged;
        }
        // What was given up is as open as it was.
        if judged.files.is_some() && judged.outcome != RuleOutcome::GivenUp {
            decision.file_rules.push(rule.id.clone());
        }
        if let (Some(pace), Some(paced)) = (rule.as_pace_rule(), &judged.pace) {
            let after = paced.settle(&rule, pace, &judged.outcome, situation);
            judged.outcome = after.outcome;
            decision.pace.extend(after.memory);
            decision.verdict.notices.extend(after.notice);
        }
        if rule.action == Level::Allow && matches!(judged.outcome, RuleOutcome::Matched(_)) {
            self.coverage.add(&rule);
        }
        if let RuleOutcome::Undecidable(facts) = &judged.outcome {
            decision.undecided.push(UndecidedRule::of(&rule, facts));
        }
        let mut lets_go = false;
        if let Some(level) = judged.outcome.level() {
            // A hold that cannot be counted could go on for ever.
            let Ok(finding) = decision.finding(&rule, level, &judged, self.inquiry) else {
                decision.skipped.push(rule.id);
                return;
            };
            lets_go = finding.level < level;
            self.findings.push((finding, matches!(judged.outcome, RuleOutcome::Incomplete(_))));
        }
        if thorough {
            let RuleJudgement { clauses, files, outcome, .. } = judged;
            decision.considered.push(ConsideredRule { rule, clauses, files, outcome, lets_go });
        }
    }

    fn conclude(self) -> Decision {
        let Self { inquiry, mut decision, findings, coverage, .. } = self;
        let notices = std::mem::take(&mut decision.verdict.notices);
        decision.verdict = Verdict { notices, ..Verdict::of(say_once(findings, inquiry.situation)) };
        decision.approve(&coverage);
        decision
    }
}

/// An acknowledgement settles a warning or a hold; whatever else a rule says, it says every time.
fn is_acknowledged(rule: &Rule, judged: &RuleJudgement, situation: &Situation) -> bool {
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

fn with_subject(reason: String, subject: Option<String>) -> String {
    let is_one_paragraph = !reason.contains("\n\n");
    match subject {
        None => reason,
        Some(subject) if is_one_paragraph => format!("{reason} {subject}"),
        Some(subject) => format!("{reason}\n\n{subject}"),
    }
}

impl UndecidedRule {
    pub fn of(rule: &Rule, facts: &[String]) -> Self {
        let most = rule.on_error.map_or(rule.action, |level| level.max(rule.action));
        Self { rule: rule.id.clone(), digest: rule.digest.clone(), most, facts: facts.to_vec() }
    }
}

impl Decision {
    fn silent() -> Self {
        Self {
            verdict: Verdict::silent(),
            holds: Vec::new(),
            demands: Vec::new(),
            pace: Vec::new(),
            file_rules: Vec::new(),
            skipped: Vec::new(),
            undecided: Vec::new(),
            considered: Vec::new(),
        }
    }

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
        judged: &RuleJudgement,
        inquiry: &DecisionRequest,
    ) -> Result<Finding, Missing> {
        let because = judged
            .clauses
            .iter()
            .filter(|clause| clause.truth != Truth::False)
            .map(|clause| format!("{}: {}", clause.key, clause.shown))
            .collect();
        let reason = match &judged.outcome {
            RuleOutcome::Fault(_, why) => {
                let fault = format!("The rule itself is at fault and counts as matched: {why}.");
                [rule.reason.trim_end(), &fault].join("\n\n").trim_start().to_owned()
            }
            RuleOutcome::Incomplete(_) => match named_path(&judged.clauses) {
                Some(path) => {
                    format!(
                        "What becomes of `{path}` cannot be known before it runs; it may be what this rule is about. {}",
                        rule.reason
                    )
                }
                None => format!("{UNKNOWABLE} this rule is about. {}", rule.reason),
            },
            RuleOutcome::Matched(_)
            | RuleOutcome::Passed
            | RuleOutcome::Acknowledged
            | RuleOutcome::GivenUp
            | RuleOutcome::Undecidable(_) => match (&judged.files, &judged.pace) {
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
        let let_go = (holds && shown >= rule.most_holds()).then(|| self.let_go(rule, shown));
        let level = if let_go.is_some() { Level::Warn } else { level };
        self.demands.push(Demand { rule: rule.clone(), found: found.clone(), let_go, asked_before: shown });
        level
    }

    /// A hold has a cap; a rule that has reached it lets go, and the person is told: what is returned.
    fn hold(&mut self, rule: &Rule, inquiry: &DecisionRequest) -> Result<Option<String>, Missing> {
        let held = inquiry.situation.facts.holds(&rule.id)?;
        if held >= rule.most_holds() {
            return Ok(Some(self.let_go(rule, held)));
        }
        self.holds.push((rule.id.clone(), held + 1));
        Ok(None)
    }

    fn let_go(&mut self, rule: &Rule, held: u32) -> String {
        let notice = let_go(rule, held, rule.most_holds());
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

fn let_go(rule: &Rule, held: u32, most: u32) -> String {
    let times = if held == 1 { "once".to_owned() } else { format!("{held} times") };
    format!("rule `{}` held this stop {times} and was not met; it lets go now (max_holds: {most})", rule.id)
}

fn section_kind(rule: &Rule) -> SectionKind {
    match rule.ack {
        AckBy::Agent => SectionKind::Demand,
        AckBy::Human => SectionKind::PersonsDemand,
    }
}

/// What a file rule asks for, under its title.
pub fn section(rule: &Rule, found: &FileMatch) -> String {
    let body = Placeholders(found).fill(&rule.reason);
    format!("## {}\n{}\n\n{}", rule.shown_title(), file_rules::listed(found), body.trim())
}

/// Of an `allow` rule beside others.
const STRICTER: &str = "another rule speaks, and is stricter";
