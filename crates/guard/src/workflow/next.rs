//! `linchpin next`: decides the move that follows from the claims, checks it, and makes it.
//!
//! The move is decided once. If variables change while its gates run, its conditions and pace rules are not judged
//! again.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::Situation;
use engine::rules::Rule;
use engine::workflow::{Node, Transition};
use serde_json::{Map, Value, json};
use store::{CountedOutcome, NoteKind, RecordedRuleOutcome};

use super::condition::is_true;
use super::enter_node::{MoveEffects, MoveNote};
use super::loaded_states::find_node;
use super::write_move::moved_meanwhile_error;
use super::{Claims, FailedGate, Force, Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::{ActiveWorkflow, LiveFacts, SESSION_VARIABLE_PREFIX};
use crate::rule_outcomes;
use crate::session::AgentSession;

/// A move that was decided and whose gates have passed.
struct DecidedMove<'m> {
    from: &'m ActiveWorkflow,
    node: &'m Node,
    transition: &'m Transition,
    /// The pace rules that `--force` skips.
    skipped_rules: &'m [Rule],
    /// The fields of the note in the journal.
    fields: &'m Map<String, Value>,
}

impl WorkflowCommands<'_> {
    /// Makes the move that follows from the claims.
    pub fn next(&self, arguments: &[String], force: &Force) -> Result<Step, WorkflowError> {
        if *force != Force::None {
            self.require_person("next --force")?;
        }
        self.require_permission_for_active("next")?;
        let (stored, active) = self.load_active()?;
        let node = find_node(&active.workflow, active.position.node())?.clone();
        let claims = Claims::parse(arguments, &node.name, &active.workflow)?;
        let (skipped_rules, pace_rules) = Self::pace_rules(&active, force)?;
        let active = Arc::new(ActiveWorkflow { claims: claims.as_map().clone(), ..active });
        let (situation, facts) = self.situation_and_facts(&active, &stored);
        let Some(transition) = first_transition(&node, &situation)? else {
            let leading_claims =
                self.transitions_by_claim(&node, &active, &stored).into_iter().map(|(claim, _)| claim).collect();
            let claimed = claims.names().into_iter().map(str::to_owned).collect();
            let step = Step::stayed(&active, StepOutcome::NoTransition { claimed, leading_claims });
            return Ok(self.with_session_notice(step, &facts));
        };
        if let Some(violated) = self.violated_pace_rule(&pace_rules, &active, &stored)? {
            let rule = &violated.rule;
            let phase = Some(active.position.phase_name());
            let blocked = rule_outcomes::for_rules([rule.id.as_str()].into_iter(), CountedOutcome::Blocked, phase);
            return self.refuse(&active, &rule.id, violated.outcome(), Some(rule), blocked.collect());
        }
        let required = node.requires.iter().chain(&transition.requires);
        let failed_gates = self.gate_checker(&active, &situation).check_gates(required);
        if !failed_gates.is_empty() {
            let step = self.refuse_by_gates(&active, failed_gates)?;
            return Ok(self.with_session_notice(step, &facts));
        }
        // Ctrl-C while a gate's command runs kills the command, so that its gate fails. If Ctrl-C comes later, no gate
        // fails, but the person does not want the move.
        if self.gate_runners.command.is_cancelled() {
            return Err(WorkflowError::Cancelled);
        }
        let fields = self.journal_fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(node.name)),
            ("to", json!(transition.to)),
            ("claims", json!(claims.names())),
            ("forced", json!(force.journal_text())),
        ]);
        let decided =
            DecidedMove { from: &active, node: &node, transition, skipped_rules: &skipped_rules, fields: &fields };
        let step = Self::retry_on_conflict(|| self.apply_decided_move(&decided))?;
        Ok(self.with_session_notice(step, &facts))
    }

    /// Makes the move if the workflow is still at the position at which the move was decided. The states are read
    /// again, because hooks may have changed them while the gates ran.
    fn apply_decided_move(&self, decided: &DecidedMove<'_>) -> Result<Step, WorkflowError> {
        let (stored, current) = self.load_active()?;
        if current.position != decided.from.position {
            return Err(moved_meanwhile_error(Some(&current.position)));
        }
        let current = Arc::new(ActiveWorkflow { claims: decided.from.claims.clone(), ..current });
        let mut effects = MoveEffects::default();
        let skipped_rules = decided.skipped_rules.iter().map(|rule| rule.id.as_str());
        let phase = Some(current.position.phase_name());
        effects.changes.rule_outcomes.extend(rule_outcomes::for_rules(skipped_rules, CountedOutcome::Forced, phase));
        self.run_node_actions("on_exit", &decided.node.on_exit, &current, &stored, &mut effects);
        let move_note = MoveNote { kind: NoteKind::Move, fields: decided.fields };
        self.enter_node_or_end(&current, &decided.transition.to, stored, move_note, effects)
    }

    /// Records a move that gates refused.
    fn refuse_by_gates(&self, active: &ActiveWorkflow, failed: Vec<FailedGate>) -> Result<Step, WorkflowError> {
        let gate_ids: Vec<&str> = failed.iter().map(|gate| gate.gate.as_str()).collect();
        // Two gates may contain the same rule, which counts once.
        let rules: BTreeSet<&str> = failed.iter().flat_map(|gate| &gate.rules).map(String::as_str).collect();
        let phase = Some(active.position.phase_name());
        let outcomes = rule_outcomes::for_rules(rules.into_iter(), CountedOutcome::Blocked, phase).collect();
        self.refuse(active, &gate_ids.join(", "), StepOutcome::GatesFailed(failed), None, outcomes)
    }

    /// Records a refused move. `refused_by` is the id of the pace rule or the ids of the gates that refused it.
    /// `refusing_rule` is the pace rule; `None` if gates refused the move.
    fn refuse(
        &self,
        active: &ActiveWorkflow,
        refused_by: &str,
        outcome: StepOutcome,
        refusing_rule: Option<&Rule>,
        rule_outcomes: Vec<RecordedRuleOutcome>,
    ) -> Result<Step, WorkflowError> {
        let fields = self.journal_fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(active.position.node())),
            ("why", json!(refused_by)),
        ]);
        self.record_refused_move(&fields, &active.position, refusing_rule, rule_outcomes)?;
        Ok(Step::stayed(active, outcome))
    }

    /// If variables of the session were read, adds a notice that names the session.
    fn with_session_notice(&self, step: Step, facts: &LiveFacts) -> Step {
        let is_any_read = facts.used_facts().keys().any(|name| name.starts_with(SESSION_VARIABLE_PREFIX));
        let Some(AgentSession { agent, id }) = self.agent_session.as_ref().filter(|_| is_any_read) else { return step };
        let notice = format!("Session variables were read from session `{id}` ({agent}).");
        Step { notices: [notice].into_iter().chain(step.notices).collect(), ..step }
    }
}

/// The first transition whose `when` is true. If the evaluation of an earlier `when` fails, this returns an error,
/// because that transition might be the first.
pub(super) fn first_transition<'n>(
    node: &'n Node,
    situation: &Arc<Situation>,
) -> Result<Option<&'n Transition>, WorkflowError> {
    for transition in &node.transitions {
        match is_true(&transition.when, situation) {
            Ok(true) => return Ok(Some(transition)),
            Ok(false) => {}
            Err(why) => {
                return Err(WorkflowError::When { node: node.name.clone(), when: transition.when.clone(), why });
            }
        }
    }
    Ok(None)
}
