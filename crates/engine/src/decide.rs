//! Judges an event by a set of rules and combines the outcomes into one [`Decision`].

mod activity;
mod allow_coverage;
mod pace_judgement;
mod reason;
mod rule_judgement;

use std::cell::OnceCell;
use std::sync::Arc;

use crate::facts::FactStore;
use crate::file_rules::FileMatch;
use crate::rules::{AckBy, Clause, HoldState, Rule, RuleSet, RuleSetError, Truth};
use crate::situation::Situation;
use crate::verdict::{Finding, Level, SectionKind, Verdict};

use allow_coverage::AllowCoverage;
use pace_judgement::ActivityCell;
pub use pace_judgement::PaceUpdate;
pub use reason::section;
use rule_judgement::RuleJudgement;

/// The input of [`decide`].
pub struct DecisionRequest<'a> {
    pub situation: &'a Arc<Situation>,
    pub rules: &'a RuleSet,
    /// Evaluate every clause of every rule for this kind of event and report each in [`Decision::considered`]; used by
    /// `explain`.
    pub evaluate_all: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    /// Rules other than file rules that hold this stop, with the number of holds including this one. The holds of file
    /// rules are counted in `demands`.
    pub holds: Vec<(String, u32)>,
    /// Demands of file rules, in the order of the rules.
    pub demands: Vec<Demand>,
    /// Changed states of pace rules, to be stored.
    pub pace_updates: Vec<PaceUpdate>,
    /// File rules that were judged against known changes.
    pub judged_file_rules: Vec<String>,
    /// Rules that were skipped because a stored fact that they need cannot be read.
    pub skipped: Vec<SkippedRule>,
    /// Rules that need a fact that was not recorded. Always empty for live events.
    pub undecided: Vec<UndecidedRule>,
    /// The outcome of each rule. Empty unless the request has `evaluate_all`.
    pub considered: Vec<ConsideredRule>,
}

/// A rule that was not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRule {
    pub rule: String,
    pub unreadable: FactStore,
}

/// A rule whose outcome depends on facts that were not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndecidedRule {
    pub rule: String,
    pub digest: String,
    /// The strictest level that the rule could have given.
    pub strictest: Level,
    /// Names of the missing facts, sorted.
    pub facts: Vec<String>,
}

/// A demand of a file rule: the files that must still change.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    pub rule: Rule,
    /// The match, without triggers that are answered.
    pub found: FileMatch,
    /// Set if the rule has reached its maximum of holds and releases the stop: the notice for the person.
    pub release_notice: Option<String>,
    /// How often the session or subagent has been asked before.
    pub times_asked: u32,
}

/// One rule with its outcome for the event, for `explain`.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsideredRule {
    pub rule: Rule,
    pub clauses: Vec<Clause>,
    /// The match of a file rule.
    pub files: Option<FileMatch>,
    pub outcome: RuleOutcome,
    /// The rule has reached its maximum of holds and only warns.
    pub released: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RuleOutcome {
    /// A clause is false.
    Passed,
    /// Every clause is true.
    Matched(Level),
    /// No clause is false and one is unknown.
    Incomplete(Level),
    /// The rule could not be judged; the string says why.
    Fault(Level, String),
    /// The rule would warn or hold, but was acknowledged in this session.
    Acknowledged,
    /// The rule has asked as often as it may and stays silent.
    GivenUp,
    /// The rule needs these facts, which were not recorded.
    Undecidable(Vec<String>),
}

impl RuleOutcome {
    /// The level that the outcome contributes to the verdict; `None` if it contributes nothing.
    fn level(&self) -> Option<Level> {
        match self {
            Self::Passed | Self::Acknowledged | Self::GivenUp | Self::Undecidable(_) => None,
            Self::Matched(level) | Self::Incomplete(level) | Self::Fault(level, _) => Some(*level),
        }
    }
}

pub fn decide(request: &DecisionRequest) -> Result<Decision, RuleSetError> {
    let situation = request.situation;
    let rules = if request.evaluate_all { request.rules.all()? } else { request.rules.candidates(situation)? };
    let mut builder = DecisionBuilder {
        request,
        decision: Decision::empty(),
        findings: Vec::new(),
        coverage: AllowCoverage::new(situation),
        activity: OnceCell::new(),
    };
    for rule in rules.into_iter().filter(|rule| rule.on.contains(situation.event.kind)) {
        builder.add(rule);
    }
    Ok(builder.conclude())
}

/// Collects outcomes rule by rule, then combines them.
struct DecisionBuilder<'a> {
    request: &'a DecisionRequest<'a>,
    decision: Decision,
    findings: Vec<PossibleFinding>,
    coverage: AllowCoverage<'a>,
    activity: ActivityCell,
}

/// A finding that is certain, or only possible because the command is not fully known.
struct PossibleFinding {
    finding: Finding,
    is_sure: bool,
}

impl DecisionBuilder<'_> {
    fn add(&mut self, rule: Rule) {
        let DecisionRequest { situation, evaluate_all, .. } = *self.request;
        let decision = &mut self.decision;
        let mut judged = match RuleJudgement::of(&rule, situation, evaluate_all, &self.activity) {
            Ok(judged) => judged,
            Err(unreadable) => return decision.skipped.push(SkippedRule { rule: rule.id, unreadable }),
        };
        if is_acknowledged(&rule, &judged, situation) {
            judged.outcome = RuleOutcome::Acknowledged;
        }
        // A rule that has given up is not listed as judged: that would close its open demand.
        if judged.files.is_some() && judged.outcome != RuleOutcome::GivenUp {
            decision.judged_file_rules.push(rule.id.clone());
        }
        if let (Some(pace), Some(judgement)) = (rule.as_pace_rule(), &judged.pace) {
            let after = judgement.apply_live_mode(&rule, pace, &judged.outcome, situation);
            judged.outcome = after.outcome;
            decision.pace_updates.extend(after.update);
            decision.verdict.notices.extend(after.notice);
        }
        if rule.action == Level::Allow && matches!(judged.outcome, RuleOutcome::Matched(_)) {
            self.coverage.add(&rule);
        }
        if let RuleOutcome::Undecidable(facts) = &judged.outcome {
            decision.undecided.push(UndecidedRule::of(&rule, facts));
        }
        let mut released = false;
        if let Some(level) = judged.outcome.level() {
            let finding = match decision.add_finding(&rule, level, &judged, self.request) {
                Ok(finding) => finding,
                // Without a hold count the stop could be held forever.
                Err(unreadable) => return decision.skipped.push(SkippedRule { rule: rule.id, unreadable }),
            };
            released = finding.level < level;
            let is_sure = !matches!(judged.outcome, RuleOutcome::Incomplete(_));
            self.findings.push(PossibleFinding { finding, is_sure });
        }
        if evaluate_all {
            let RuleJudgement { clauses, files, outcome, .. } = judged;
            decision.considered.push(ConsideredRule { rule, clauses, files, outcome, released });
        }
    }

    fn conclude(self) -> Decision {
        let Self { request, mut decision, findings, coverage, .. } = self;
        let notices = std::mem::take(&mut decision.verdict.notices);
        decision.verdict = Verdict { notices, ..Verdict::of(merge_unparsable(findings, request.situation)) };
        decision.approve(&coverage);
        decision
    }
}

/// True if an acknowledgement silences the rule. Only warnings and holds can be acknowledged; refusals of calls cannot.
fn is_acknowledged(rule: &Rule, judged: &RuleJudgement, situation: &Situation) -> bool {
    // Demands of file rules are answered per file, not per rule.
    rule.as_file_rule().is_none()
        && judged.outcome.level().is_some_and(|level| {
            (level == Level::Warn || (level > Level::Warn && situation.event.kind.is_stop()))
                && situation.facts.is_acknowledged(&rule.id, &rule.digest)
        })
}

/// Merges findings about a command that cannot be parsed into one: such a command could match every rule about
/// commands.
fn merge_unparsable(findings: Vec<PossibleFinding>, situation: &Situation) -> Vec<Finding> {
    let all_findings = |possible: Vec<PossibleFinding>| possible.into_iter().map(|possible| possible.finding).collect();
    let Some(gap) = situation.script().and_then(|script| script.gaps.first()) else { return all_findings(findings) };
    let (sure, unsure): (Vec<_>, Vec<_>) = findings.into_iter().partition(|possible| possible.is_sure);
    let (mut merged, unsure): (Vec<Finding>, Vec<Finding>) = (all_findings(sure), all_findings(unsure));
    let Some(level) = unsure.iter().map(|finding| finding.level).max() else { return merged };
    let strictest = unsure.iter().filter(|finding| finding.level == level);
    let rules: Vec<&str> = strictest.map(|finding| finding.rule.as_str()).collect();
    let reason = reason::of_unparsable(gap, &rules);
    let protects_guard = unsure.iter().any(|finding| finding.protects_guard);
    let representative = unsure.into_iter().find(|finding| finding.level == level);
    merged.extend(representative.map(|finding| Finding { reason, protects_guard, is_combined: true, ..finding }));
    merged
}

impl UndecidedRule {
    pub fn of(rule: &Rule, facts: &[String]) -> Self {
        let strictest = rule.on_error.map_or(rule.action, |level| level.max(rule.action));
        Self { rule: rule.id.clone(), digest: rule.digest.clone(), strictest, facts: facts.to_vec() }
    }
}

impl Decision {
    fn empty() -> Self {
        Self {
            verdict: Verdict::empty(),
            holds: Vec::new(),
            demands: Vec::new(),
            pace_updates: Vec::new(),
            judged_file_rules: Vec::new(),
            skipped: Vec::new(),
            undecided: Vec::new(),
            considered: Vec::new(),
        }
    }

    /// Approves the call if `allow` rules cover all of it and no finding is stricter.
    fn approve(&mut self, coverage: &AllowCoverage) {
        let verdict = &mut self.verdict;
        if !coverage.situation.event.kind.awaits_permission() {
            return;
        }
        let mut allowing = verdict.findings.iter_mut().filter(|finding| finding.level == Level::Allow).peekable();
        if allowing.peek().is_none() {
            return;
        }
        let why_not = if verdict.level > Level::Allow { Some(STRICTER.to_owned()) } else { coverage.why_incomplete() };
        verdict.approved = why_not.is_none();
        if let Some(why) = why_not {
            allowing.for_each(|finding| finding.mark_not_approved(&why));
        }
    }

    /// Returns the rule's finding, in words, and adds the rule's demand or counts its hold. The error is the store of
    /// a hold count that cannot be read.
    fn add_finding(
        &mut self,
        rule: &Rule,
        level: Level,
        judged: &RuleJudgement,
        request: &DecisionRequest,
    ) -> Result<Finding, FactStore> {
        let because = judged
            .clauses
            .iter()
            .filter(|clause| clause.truth != Truth::False)
            .map(|clause| format!("{}: {}", clause.key, clause.shown))
            .collect();
        let reason = reason::of(rule, judged, request.situation);
        let kind = request.situation.event.kind;
        let holds = level == Level::Block && kind.is_stop();
        let level = match &judged.files {
            Some(found) => self.add_demand(rule, found, judged.times_asked, level, holds),
            None if holds && !self.count_hold(rule, request)? => Level::Warn,
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
            is_combined: false,
        })
    }

    /// Adds a demand, and returns the level of its finding. A file rule's holds are counted by how often it has asked,
    /// across stops.
    fn add_demand(&mut self, rule: &Rule, found: &FileMatch, times_asked: u32, level: Level, holds: bool) -> Level {
        let is_released = holds && rule.hold_state(times_asked) != HoldState::Holding;
        let release_notice = is_released.then(|| self.add_release_notice(rule, times_asked));
        let level = if is_released { Level::Warn } else { level };
        self.demands.push(Demand { rule: rule.clone(), found: found.clone(), release_notice, times_asked });
        level
    }

    /// Counts a hold and returns true. If the rule has reached its maximum of holds, adds a notice instead and returns
    /// false.
    fn count_hold(&mut self, rule: &Rule, request: &DecisionRequest) -> Result<bool, FactStore> {
        let held = request.situation.facts.hold_count(&rule.id)?;
        let is_holding = rule.hold_state(held) == HoldState::Holding;
        if is_holding {
            self.holds.push((rule.id.clone(), held + 1));
        } else {
            self.add_release_notice(rule, held);
        }
        Ok(is_holding)
    }

    /// Adds and returns the notice for the person that the rule no longer holds the stop.
    fn add_release_notice(&mut self, rule: &Rule, held: u32) -> String {
        let notice = release_notice(rule, held, rule.max_holds_or_default());
        self.verdict.notices.push(notice.clone());
        notice
    }

    /// Removes a demand and its finding: the rule's command has met the demand in the meantime.
    pub fn withdraw(&mut self, demand: &Demand) {
        let rule = &demand.rule.id;
        self.verdict.findings.retain(|finding| finding.rule != *rule);
        self.verdict.notices.retain(|notice| demand.release_notice.as_ref() != Some(notice));
    }
}

fn release_notice(rule: &Rule, held: u32, max_holds: u32) -> String {
    let times = if held == 1 { "once".to_owned() } else { format!("{held} times") };
    format!(
        "rule `{}` has held this stop {times} (max_holds: {max_holds}) and is still unmet; the agent may stop now",
        rule.id
    )
}

fn section_kind(rule: &Rule) -> SectionKind {
    match rule.ack {
        AckBy::Agent => SectionKind::Demand,
        AckBy::Human => SectionKind::HumanAckDemand,
    }
}

const STRICTER: &str = "a stricter rule also matched";

#[cfg(test)]
mod tests;
