//! Judges an event by a set of rules, and combines the outcomes of the rules into one [`Decision`].

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
    /// True if every clause of every rule for this kind of event is evaluated, and each of these rules is reported in
    /// [`Decision::considered`]. Used by `explain`.
    pub evaluate_all: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    /// The ids of the rules that hold this stop and have no entry in `demands`. The number says how often the rule has
    /// held the stop, including the current hold.
    pub holds: Vec<(String, u32)>,
    /// Demands of file rules, in the order of the rules.
    pub demands: Vec<Demand>,
    /// Changed states of pace rules, to be stored.
    pub pace_updates: Vec<PaceUpdate>,
    /// The ids of the file rules that were judged and have not given up (see [`RuleOutcome::GivenUp`]). File rules
    /// cannot be judged if it is unknown which files changed.
    pub judged_file_rule_ids: Vec<String>,
    /// True if a file rule may be unmet although the rule makes no demand: the rule has given up, was skipped or is
    /// faulty, or it is unknown which files changed.
    pub has_unjudged_file_rule: bool,
    /// Rules that were skipped because a fact that the rule needs cannot be read, or because its demand cannot be
    /// written.
    pub skipped: Vec<SkippedRule>,
    /// Rules that need a fact that was not recorded. Always empty for live events.
    pub undecided: Vec<UndecidedRule>,
    /// The outcome of each rule for this kind of event. Empty unless the request has `evaluate_all`.
    pub considered: Vec<ConsideredRule>,
}

/// A rule that was not judged, because a fact that the rule needs cannot be read, or because its demand cannot be
/// written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRule {
    pub rule: String,
    /// The store that cannot be read or written.
    pub unavailable: FactStore,
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
    /// The triggers and missing files, without the triggers for which the demand was already answered.
    pub file_match: FileMatch,
    /// The notice that tells the person that the rule no longer holds the stop. Set if the rule has reached its maximum
    /// of holds.
    pub release_notice: Option<String>,
    /// How often the rule has already asked the session or subagent for these files since the session or subagent last
    /// made progress on the demand.
    pub times_asked: u32,
}

/// One rule with its outcome for the event, for `explain`.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsideredRule {
    pub rule: Rule,
    pub clauses: Vec<Clause>,
    /// The triggers and missing files; `None` if the rule is not a file rule, or if the rule could not be judged.
    pub file_match: Option<FileMatch>,
    pub outcome: RuleOutcome,
    /// True if the rule has reached its maximum of holds and only warns.
    pub released: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RuleOutcome {
    /// The rule contributes nothing to the verdict, in most cases because a clause is false.
    NotApplied,
    /// Every clause is true.
    Matched(Level),
    /// No clause is false, and at least one is unknown.
    Incomplete(Level),
    /// The rule could not be judged. The string is the reason.
    Fault(Level, String),
    /// The rule would warn or hold the stop, but its demand was answered: by an acknowledgement, a promise of the agent,
    /// or a command that passed.
    Acknowledged,
    /// The rule has already held the stop, refused calls or warned the maximum number of times, and reports nothing.
    GivenUp,
    /// The rule needs the facts with these names, which were not recorded.
    Undecidable(Vec<String>),
}

impl RuleOutcome {
    /// The level that the outcome contributes to the verdict; `None` if the outcome contributes nothing.
    fn level(&self) -> Option<Level> {
        match self {
            Self::NotApplied | Self::Acknowledged | Self::GivenUp | Self::Undecidable(_) => None,
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

/// Collects the outcomes of all rules, then combines them into a [`Decision`].
struct DecisionBuilder<'a> {
    request: &'a DecisionRequest<'a>,
    decision: Decision,
    findings: Vec<PossibleFinding>,
    coverage: AllowCoverage<'a>,
    activity: ActivityCell,
}

/// A finding, and whether the rule certainly matches. The match is uncertain if no clause is false and at least one is
/// unknown.
struct PossibleFinding {
    finding: Finding,
    is_sure: bool,
}

impl DecisionBuilder<'_> {
    /// Judges a rule and adds its outcome to the decision.
    fn add(&mut self, rule: Rule) {
        if let Err(unavailable) = self.try_add(&rule) {
            self.decision.has_unjudged_file_rule |= rule.as_file_rule().is_some();
            self.decision.skipped.push(SkippedRule { rule: rule.id, unavailable });
        }
    }

    /// Like [`Self::add`], but fails if a fact that the rule needs cannot be read, or if its demand cannot be written.
    /// The error is the store that cannot be read or written.
    fn try_add(&mut self, rule: &Rule) -> Result<(), FactStore> {
        let judged = self.judge(rule)?;
        if rule.action == Level::Allow && matches!(judged.outcome, RuleOutcome::Matched(_)) {
            self.coverage.add(rule);
        }
        if let RuleOutcome::Undecidable(facts) = &judged.outcome {
            self.decision.undecided.push(UndecidedRule::of(rule, facts));
        }
        let mut released = false;
        if let Some(level) = judged.outcome.level() {
            let situation = self.request.situation;
            let finding_level = self.decision.add_demand_or_hold(rule, level, &judged, situation)?;
            released = finding_level < level;
            let finding = create_finding(rule, finding_level, &judged, situation);
            let is_sure = !matches!(judged.outcome, RuleOutcome::Incomplete(_));
            self.findings.push(PossibleFinding { finding, is_sure });
        }
        if self.request.evaluate_all {
            let RuleJudgement { clauses, file_match, outcome, .. } = judged;
            self.decision.considered.push(ConsideredRule {
                rule: rule.clone(),
                clauses,
                file_match,
                outcome,
                released,
            });
        }
        Ok(())
    }

    /// Judges a rule, and applies acknowledgements and the `live` mode of pace rules to the outcome.
    fn judge(&mut self, rule: &Rule) -> Result<RuleJudgement, FactStore> {
        let DecisionRequest { situation, evaluate_all, .. } = *self.request;
        let decision = &mut self.decision;
        let mut judged = RuleJudgement::of(rule, situation, evaluate_all, &self.activity)?;
        if is_acknowledged(rule, &judged, situation) {
            judged.outcome = RuleOutcome::Acknowledged;
        }
        // A rule that has given up is not listed as judged, because the open demands of a judged rule are closed if the
        // rule makes no demand.
        if judged.file_match.is_some() && judged.outcome != RuleOutcome::GivenUp {
            decision.judged_file_rule_ids.push(rule.id.clone());
        } else {
            decision.has_unjudged_file_rule |= rule.as_file_rule().is_some();
        }
        if let (Some(pace), Some(judgement)) = (rule.as_pace_rule(), &judged.pace) {
            let effect = judgement.apply_live_mode(rule, pace, &judged.outcome, situation);
            judged.outcome = effect.outcome;
            decision.pace_updates.extend(effect.update);
            decision.verdict.notices.extend(effect.notice);
        }
        Ok(judged)
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
    // A demand of a file rule is acknowledged per file, not per rule.
    rule.as_file_rule().is_none()
        && judged.outcome.level().is_some_and(|level| {
            (level == Level::Warn || (level > Level::Warn && situation.event.kind.is_stop()))
                && situation.facts.is_acknowledged(&rule.id, &rule.digest)
        })
}

/// Replaces all uncertain findings about a command that cannot be parsed by a single finding, because such a command
/// could match every rule about commands.
fn merge_unparsable(findings: Vec<PossibleFinding>, situation: &Situation) -> Vec<Finding> {
    let without_certainty =
        |possible: Vec<PossibleFinding>| possible.into_iter().map(|possible| possible.finding).collect();
    let Some(gap) = situation.script().and_then(|script| script.gaps.first()) else {
        return without_certainty(findings);
    };
    let (sure, unsure): (Vec<_>, Vec<_>) = findings.into_iter().partition(|possible| possible.is_sure);
    let (mut merged, unsure): (Vec<Finding>, Vec<Finding>) = (without_certainty(sure), without_certainty(unsure));
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
            judged_file_rule_ids: Vec::new(),
            has_unjudged_file_rule: false,
            skipped: Vec::new(),
            undecided: Vec::new(),
            considered: Vec::new(),
        }
    }

    /// Approves a call that waits for permission, if `allow` rules cover all of the call and no finding is stricter
    /// than `allow`.
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

    /// Adds the demand of a file rule, or counts the hold of any other rule that holds the stop. Returns the level of
    /// the rule's finding: `Warn` if the rule would hold the stop but has reached its maximum of holds, otherwise
    /// `level`.
    fn add_demand_or_hold(
        &mut self,
        rule: &Rule,
        level: Level,
        judged: &RuleJudgement,
        situation: &Situation,
    ) -> Result<Level, FactStore> {
        let holds = level == Level::Block && situation.event.kind.is_stop();
        match &judged.file_match {
            Some(file_match) => Ok(self.add_demand(rule, file_match, judged.times_asked, level, holds)),
            None if holds && !self.count_hold(rule, situation)? => Ok(Level::Warn),
            None => Ok(level),
        }
    }

    /// Adds a demand, and returns the level of its finding: `Warn` if the rule would hold the stop but has already
    /// reached its maximum of holds, otherwise `level`. `times_asked` also counts earlier stops.
    fn add_demand(
        &mut self,
        rule: &Rule,
        file_match: &FileMatch,
        times_asked: u32,
        level: Level,
        holds: bool,
    ) -> Level {
        let is_released = holds && rule.hold_state(times_asked) != HoldState::BelowMaximum;
        let release_notice = is_released.then(|| self.add_release_notice(rule, times_asked));
        let level = if is_released { Level::Warn } else { level };
        self.demands.push(Demand { rule: rule.clone(), file_match: file_match.clone(), release_notice, times_asked });
        level
    }

    /// Counts a hold and returns true. If the rule has reached its maximum of holds, adds a notice instead and returns
    /// false. A count that cannot be read is an error, because without a count the rule could hold the stop forever.
    fn count_hold(&mut self, rule: &Rule, situation: &Situation) -> Result<bool, FactStore> {
        let held = situation.facts.hold_count(&rule.id)?;
        let is_holding = rule.hold_state(held) == HoldState::BelowMaximum;
        if is_holding {
            self.holds.push((rule.id.clone(), held + 1));
        } else {
            self.add_release_notice(rule, held);
        }
        Ok(is_holding)
    }

    /// Adds and returns the notice that tells the person that the rule no longer holds the stop.
    fn add_release_notice(&mut self, rule: &Rule, held: u32) -> String {
        let notice = release_notice(rule, held, rule.max_holds_or_default());
        self.verdict.notices.push(notice.clone());
        notice
    }

    /// Removes the finding and the notice of a demand that was met by the rule's command after the judgement.
    pub fn remove_finding_of(&mut self, demand: &Demand) {
        let rule = &demand.rule.id;
        self.verdict.findings.retain(|finding| finding.rule != *rule);
        self.verdict.notices.retain(|notice| demand.release_notice.as_ref() != Some(notice));
    }
}

fn create_finding(rule: &Rule, level: Level, judged: &RuleJudgement, situation: &Situation) -> Finding {
    let because = judged
        .clauses
        .iter()
        .filter(|clause| clause.truth != Truth::False)
        .map(|clause| format!("{}: {}", clause.key, clause.shown))
        .collect();
    Finding {
        rule: rule.id.clone(),
        level,
        reason: reason::of(rule, judged, situation),
        because,
        digest: Some(rule.digest.clone()),
        protects_guard: rule.protects_guard(),
        section: judged.file_match.as_ref().map(|_| section_kind(rule)),
        is_combined: false,
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
