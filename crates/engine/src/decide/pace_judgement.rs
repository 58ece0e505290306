//! What pace rules make of an event: they tell once, or refuse calls for a while.

use std::cell::OnceCell;
use std::sync::Arc;

use super::{RuleOutcome, activity};
use crate::facts::Missing;
use crate::pace::{Activity, Interrupt, LiveMode, PaceRule, PaceRuleRef, PaceState, Violation};
use crate::rules::{Clause, Exemptions, Rule, Truth};
use crate::situation::Situation;

/// What a pace rule has to remember for the rest of a phase, where it is not what it remembered before.
#[derive(Debug, Clone, PartialEq)]
pub struct PaceUpdate {
    /// Of the rule.
    pub digest: String,
    /// It said so, and it has been too much ever since.
    pub is_told: bool,
    pub refusals: u32,
    /// How the phase stood when calls began to be refused; none: they are not.
    pub closed: Option<PaceState>,
}

/// What the event is to pace rules; worked out where the first of them asks.
pub(super) type Happened = OnceCell<Option<Activity>>;

/// How a phase stands with a pace rule, and what is too much in it.
pub(super) struct Paced {
    standing: PaceState,
    violation: Option<Violation>,
}

/// What a pace rule does about it.
pub(super) struct Settled {
    pub(super) outcome: RuleOutcome,
    pub(super) memory: Option<PaceUpdate>,
    /// For the person.
    pub(super) notice: Option<String>,
}

impl Paced {
    /// Nothing where the event makes no difference to the rule.
    pub(super) fn of(
        rule: &Rule,
        pace: &PaceRule,
        situation: &Arc<Situation>,
        happening: &Happened,
    ) -> Result<Option<Self>, Missing> {
        let happening = happening.get_or_init(|| activity::of(situation)).as_ref();
        let standing = situation.facts.pace(PaceRuleRef { id: &rule.id, digest: &rule.digest, pace }, happening)?;
        Ok(standing.map(|standing| Self { violation: pace.judge(&standing), standing }))
    }

    pub(super) fn is_too_much(&self) -> Truth {
        self.violation.is_some().into()
    }

    pub(super) fn clause(&self, pace: &PaceRule) -> Clause {
        let diagnostic = self.violation.as_ref().map(|violation| violation.diagnostic.clone());
        let shown = diagnostic.unwrap_or_else(|| pace.progress(&self.standing));
        Clause { key: pace.limit.name(), truth: self.is_too_much(), shown, subject: None, missing: None }
    }

    /// What the agent reads: the interrupt, with the rule's own words where it has some.
    pub(super) fn interrupt(&self, rule: &Rule) -> String {
        let reason = Some(rule.reason.trim()).filter(|reason| !reason.is_empty());
        let phase = self.standing.phase.name.as_deref();
        match &self.violation {
            Some(violation) => Interrupt { violation, phase, reason, ack: rule.ack }.to_string(),
            None => rule.reason.clone(),
        }
    }

    /// `outcome`: what all clauses of the rule come to.
    pub(super) fn settle(&self, rule: &Rule, pace: &PaceRule, outcome: &RuleOutcome, situation: &Situation) -> Settled {
        let standing = &self.standing;
        let before = PaceUpdate {
            digest: rule.digest.clone(),
            is_told: standing.is_told,
            refusals: standing.refusals,
            closed: standing.is_closed.then(|| standing.as_it_was()),
        };
        let mut memory = before.clone();
        let mut notice = None;
        let outcome = match (outcome, pace.live) {
            (RuleOutcome::Matched(_), LiveMode::Off) => RuleOutcome::Passed,
            (RuleOutcome::Matched(_), LiveMode::Warn) if standing.is_told => RuleOutcome::GivenUp,
            (RuleOutcome::Matched(_), LiveMode::Warn) => {
                memory.is_told = true;
                outcome.clone()
            }
            (RuleOutcome::Matched(_), LiveMode::Block) => {
                let most = rule.most_holds();
                let is_refusable = situation.event.kind.awaits_permission() && !is_harmless(situation);
                memory.closed = (standing.refusals <= most).then(|| standing.as_it_was());
                if !is_refusable {
                    RuleOutcome::Passed
                } else if standing.refusals < most {
                    memory.refusals = standing.refusals + 1;
                    outcome.clone()
                } else {
                    notice = (standing.refusals == most).then(|| let_go(rule, most));
                    memory.refusals = most.saturating_add(1);
                    memory.closed = None;
                    RuleOutcome::GivenUp
                }
            }
            // It has fallen below what is too much, and may be told again.
            (RuleOutcome::Passed, _) => {
                memory.is_told = false;
                RuleOutcome::Passed
            }
            _ => outcome.clone(),
        };
        Settled { outcome, memory: (memory != before).then_some(memory), notice }
    }
}

/// Whether the call only looks, or is one of Linchpin's own: nobody can think with closed eyes.
fn is_harmless(situation: &Situation) -> bool {
    situation.event.tool.as_ref().is_some_and(|call| Exemptions::harmless().holds(call, situation))
}

fn let_go(rule: &Rule, most: u32) -> String {
    let times = if most == 1 { "one call".to_owned() } else { format!("{most} calls") };
    format!(
        "rule `{}` refused {times} and nobody went on by `linchpin continue`; it lets go now (max_holds: {most})",
        rule.id
    )
}
