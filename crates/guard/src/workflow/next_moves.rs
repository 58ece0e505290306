//! A preview of the moves from the current node, with the states of their gates.
//!
//! The preview must be fast and have no side effects, so it runs no command and judges no file rule.

use std::cell::OnceCell;
use std::sync::Arc;

use engine::Situation;
use engine::workflow::{Gate, Node, Requirement, Transition, Workflow};

use super::condition::{NO_SESSION, is_true};
use super::loaded_states::LoadedStates;
use super::next::first_transition;
use super::{Approvals, Claims, ReceiptFiles, RunningCommand, WorkflowCommands};
use crate::facts::ActiveWorkflow;
use crate::grants::Trust;
use crate::plain_text;
use crate::tree_digest::tree_digest;

/// The gates and moves from the current node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextMoves {
    /// The gates of the node itself. They apply to every move.
    pub gates: Vec<GatePreview>,
    pub moves: Vec<NextMove>,
}

/// A transition from the current node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextMove {
    pub to: String,
    pub when: String,
    /// The claims that lead to this transition now. Each of them is enough.
    pub claims: Vec<String>,
    /// True if no claim is known to lead to this transition, because its `when` uses a session variable and the session
    /// is unknown.
    pub depends_on_session: bool,
    /// The transition's own gates.
    pub gates: Vec<GatePreview>,
}

/// A gate and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatePreview {
    pub id: String,
    /// The gate's condition, in one line.
    pub condition: String,
    pub state: GateState,
    /// The gate's command, if it is running.
    pub running: Option<RunningCommand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateState {
    Met,
    NotMet,
    /// Unknown, because only a move checks the gate.
    NotChecked,
    /// The gate does not pass until a person trusts the workflow.
    NotTrusted,
    /// The gate uses a session variable, and the session is unknown.
    NoSession,
}

impl GateState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::NotChecked => "not checked yet",
            Self::NotTrusted => "not trusted yet",
            Self::NoSession => "depends on the session",
        }
    }
}

impl WorkflowCommands<'_> {
    pub(super) fn preview_moves(&self, node: &Node, active: &Arc<ActiveWorkflow>, stored: &LoadedStates) -> NextMoves {
        let by_claim = self.transitions_by_claim(node, active, stored);
        let tree = OnceCell::new();
        let is_trusted = self.trusts(active);
        let tree = || tree.get_or_init(|| tree_digest(&self.project.root).ok()).as_ref().map(Option::as_deref);
        let gates = |requires: &[Requirement], claim: Option<&str>| -> Vec<GatePreview> {
            if requires.is_empty() {
                return Vec::new();
            }
            let claims = claim.map(|claim| Claims::single(claim).as_map().clone()).unwrap_or_default();
            let active = Arc::new(ActiveWorkflow { claims, ..(**active).clone() });
            let situation = self.situation(&active, stored);
            let preview_gate = |required: &Requirement| GatePreview {
                id: required.id.clone(),
                condition: plain_text::single_line(&required.gate.to_string()),
                state: self.gate_state(required, &active, &situation, &tree, is_trusted),
                running: match &required.gate {
                    Gate::Command { words, .. } => {
                        RunningCommand::of(&ReceiptFiles::of(words, &self.project.root, self.environment))
                    }
                    _ => None,
                },
            };
            requires.iter().map(preview_gate).collect()
        };
        let next_move = |transition: &Transition| {
            let leading_claims = by_claim.iter().filter(|(_, reached)| std::ptr::eq(*reached, transition));
            let claims: Vec<String> = leading_claims.map(|(claim, _)| claim.clone()).collect();
            let gates = gates(&transition.requires, claims.first().map(String::as_str));
            let depends_on_session = claims.is_empty() && self.depends_on_session(transition, active, stored);
            NextMove {
                to: transition.to.clone(),
                when: plain_text::single_line(&transition.when),
                claims,
                depends_on_session,
                gates,
            }
        };
        NextMoves {
            gates: gates(&node.requires, Some(&Workflow::completion_claim(&node.name))),
            moves: node.transitions.iter().map(next_move).collect(),
        }
    }

    /// All claims that lead to a transition if they are made alone, each with its transition.
    pub(super) fn transitions_by_claim<'n>(
        &self,
        node: &'n Node,
        active: &Arc<ActiveWorkflow>,
        stored: &LoadedStates,
    ) -> Vec<(String, &'n Transition)> {
        let transition_for =
            |claim: &str| first_transition(node, &self.situation_with_claim(claim, active, stored)).ok().flatten();
        active
            .workflow
            .all_claims()
            .filter_map(|claim| transition_for(&claim).map(|transition| (claim, transition)))
            .collect()
    }

    /// True if, for at least one claim, the transition's condition cannot be evaluated because the session is unknown.
    fn depends_on_session(&self, transition: &Transition, active: &Arc<ActiveWorkflow>, stored: &LoadedStates) -> bool {
        let needs_session = |claim: String| {
            is_true(&transition.when, &self.situation_with_claim(&claim, active, stored))
                .is_err_and(|why| why == NO_SESSION)
        };
        active.workflow.all_claims().any(needs_session)
    }

    fn situation_with_claim(&self, claim: &str, active: &Arc<ActiveWorkflow>, stored: &LoadedStates) -> Arc<Situation> {
        let claims = Claims::single(claim).as_map().clone();
        self.situation(&Arc::new(ActiveWorkflow { claims, ..(**active).clone() }), stored)
    }

    /// True if a person trusts the workflow.
    pub(super) fn trusts(&self, active: &ActiveWorkflow) -> bool {
        Trust::of(&self.project.root, self.environment).accepts_workflow(&active.workflow)
    }

    /// The state of a gate. `tree` returns the digest of the tree: the outer `None` means that git failed, the inner
    /// `None` that there is no repository.
    fn gate_state<'t>(
        &self,
        required: &Requirement,
        active: &ActiveWorkflow,
        situation: &Arc<Situation>,
        tree: &impl Fn() -> Option<Option<&'t str>>,
        is_trusted: bool,
    ) -> GateState {
        let met = |is_met: bool| if is_met { GateState::Met } else { GateState::NotMet };
        match &required.gate {
            Gate::Expression(expression) => match is_true(expression, situation) {
                Err(why) if why == NO_SESSION => GateState::NoSession,
                is_true => met(is_true.unwrap_or(false)),
            },
            Gate::Approval(text) => {
                let approvals = Approvals::of(&self.project.root, self.environment);
                met(tree().is_some_and(|tree| approvals.includes(&required.id, text, &active.position, tree)))
            }
            Gate::Command { .. } | Gate::Webhook(_) if !is_trusted => GateState::NotTrusted,
            Gate::Command { words, .. } => {
                let last = ReceiptFiles::of(words, &self.project.root, self.environment).last();
                let current = last.zip(tree()).filter(|(last, tree)| last.is_for_tree(*tree));
                match current {
                    Some((last, _)) if !last.passed => GateState::NotMet,
                    Some((last, tree)) if last.can_replace_a_run(tree) => GateState::Met,
                    _ => GateState::NotChecked,
                }
            }
            Gate::FileRules(rules) => {
                let mut conditions = rules.iter().filter_map(|rule| rule.when.as_deref());
                let needs_session = conditions.any(|when| is_true(when, situation).is_err_and(|why| why == NO_SESSION));
                if needs_session { GateState::NoSession } else { GateState::NotChecked }
            }
            Gate::Webhook(_) => GateState::NotChecked,
        }
    }
}
