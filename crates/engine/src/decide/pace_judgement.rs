//! Judges pace rules. Depending on its `live` mode, a pace rule whose limit is violated interrupts the agent once, or
//! refuses calls until the agent runs `linchpin continue`, or does nothing.

use std::cell::OnceCell;
use std::sync::Arc;

use super::{RuleOutcome, activity};
use crate::facts::Missing;
use crate::pace::{Activity, Interrupt, LiveMode, PaceRule, PaceRuleRef, PaceState, Violation};
use crate::rules::{Clause, Exemptions, HoldState, Rule, Truth};
use crate::situation::Situation;

/// The changed state of a pace rule, stored for the rest of the phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PaceUpdate {
    /// The digest of the rule's text.
    pub digest: String,
    /// True if the agent has read the interrupt, and the limit has been violated ever since.
    pub was_interrupted: bool,
    pub refusals: u32,
    /// The state at the moment when the rule began to refuse calls; `None` if the rule does not refuse calls.
    pub blocked_at: Option<PaceState>,
}

/// The event's activity, which is computed when the first pace rule needs the activity.
pub(super) type ActivityCell = OnceCell<Option<Activity>>;

/// The state of a pace rule, and the violation if the rule's limit is violated.
pub(super) struct PaceJudgement {
    state: PaceState,
    violation: Option<Violation>,
}

/// The effect of a pace rule after its `live` mode is applied.
pub(super) struct PaceEffect {
    pub(super) outcome: RuleOutcome,
    pub(super) update: Option<PaceUpdate>,
    /// Tells the person that the rule has refused its maximum of calls and now allows calls again; `None` if the rule
    /// did not begin to allow calls at this event.
    pub(super) notice: Option<String>,
}

impl PaceJudgement {
    /// Returns `None` if the event cannot change the rule's state.
    pub(super) fn of(
        rule: &Rule,
        pace: &PaceRule,
        situation: &Arc<Situation>,
        activity: &ActivityCell,
    ) -> Result<Option<Self>, Missing> {
        let activity = activity.get_or_init(|| activity::of(situation)).as_ref();
        let state = situation.facts.pace_state(PaceRuleRef { id: &rule.id, digest: &rule.digest, pace }, activity)?;
        Ok(state.map(|state| Self { violation: pace.judge(&state), state }))
    }

    pub(super) fn truth(&self) -> Truth {
        self.violation.is_some().into()
    }

    pub(super) fn clause(&self, pace: &PaceRule) -> Clause {
        let diagnostic = self.violation.as_ref().map(|violation| violation.diagnostic.clone());
        let shown = diagnostic.unwrap_or_else(|| pace.progress(&self.state));
        Clause { key: pace.limit.name(), truth: self.truth(), shown, subject: None, missing: None }
    }

    /// The text for the agent: the interrupt, in which the rule's reason replaces the default suggestion. If the limit
    /// is not violated, the text is only the reason.
    pub(super) fn interrupt(&self, rule: &Rule) -> String {
        let reason = Some(rule.reason.trim()).filter(|reason| !reason.is_empty());
        let phase = self.state.phase.name.as_deref();
        let refuses_calls = rule.as_pace_rule().is_some_and(|pace| pace.live == LiveMode::Block);
        match &self.violation {
            Some(violation) => Interrupt { violation, phase, reason, ack: rule.ack, refuses_calls }.to_string(),
            None => rule.reason.clone(),
        }
    }

    /// Derives the effect of a rule from the outcome of the rule's clauses and from the rule's `live` mode.
    pub(super) fn apply_live_mode(
        &self,
        rule: &Rule,
        pace: &PaceRule,
        outcome: &RuleOutcome,
        situation: &Situation,
    ) -> PaceEffect {
        let state = &self.state;
        let before = PaceUpdate {
            digest: rule.digest.clone(),
            was_interrupted: state.was_interrupted,
            refusals: state.refusals,
            blocked_at: state.is_blocking.then(|| state.without_enforcement()),
        };
        let mut update = before.clone();
        let mut notice = None;
        let outcome = match (outcome, pace.live) {
            (RuleOutcome::Matched(_), LiveMode::Off) => RuleOutcome::NotApplied,
            (RuleOutcome::Matched(_), LiveMode::Warn) if state.was_interrupted => RuleOutcome::GivenUp,
            (RuleOutcome::Matched(_), LiveMode::Warn) => {
                update.was_interrupted = true;
                outcome.clone()
            }
            (RuleOutcome::Matched(_), LiveMode::Block) => {
                let hold_state = rule.hold_state(state.refusals);
                let is_refusable = situation.event.kind.awaits_permission() && !is_harmless(situation);
                update.blocked_at = (hold_state != HoldState::AboveMaximum).then(|| state.without_enforcement());
                if !is_refusable {
                    RuleOutcome::NotApplied
                } else if hold_state == HoldState::BelowMaximum {
                    update.refusals = state.refusals + 1;
                    outcome.clone()
                } else {
                    let max_holds = rule.max_holds_or_default();
                    notice = (hold_state == HoldState::AtMaximum).then(|| release_notice(rule, max_holds));
                    update.refusals = max_holds.saturating_add(1);
                    update.blocked_at = None;
                    RuleOutcome::GivenUp
                }
            }
            // The limit is not violated, or another clause is false. When the rule matches the next time, the rule
            // interrupts the agent again.
            (RuleOutcome::NotApplied, _) => {
                update.was_interrupted = false;
                RuleOutcome::NotApplied
            }
            _ => outcome.clone(),
        };
        PaceEffect { outcome, update: (update != before).then_some(update), notice }
    }
}

/// True for calls that only read and for Linchpin's own commands. A pace rule never refuses such calls, because the
/// agent needs them to find out why it makes no progress.
fn is_harmless(situation: &Situation) -> bool {
    situation.event.tool.as_ref().is_some_and(|call| Exemptions::harmless().covers(call, situation))
}

fn release_notice(rule: &Rule, max_holds: u32) -> String {
    let times = if max_holds == 1 { "one call".to_owned() } else { format!("{max_holds} calls") };
    format!(
        "rule `{}` has refused {times} (max_holds: {max_holds}) without a `linchpin continue`; calls are allowed \
         again",
        rule.id
    )
}
