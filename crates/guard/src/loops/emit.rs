//! `linchpin emit`: the agent under a hat publishes a topic and so hands the work over. The gates of the topic are
//! checked while `linchpin emit` runs, so that the agent can fix what a gate reports.

use std::sync::Arc;

use engine::rules::Rule;
use engine::suggest;
use engine::workflow::Gate;
use serde_json::json;
use store::{NoteKind, StateChanges};
use work::{HandOver, HandOverOutcome, WorkDatabase, WorkError};

use crate::position::Position;
use crate::session::HatPhase;
use crate::workflow::{FailedGate, Force, ViolatedPaceRule, WorkflowCommands, WorkflowError};

/// The arguments of `linchpin emit`.
#[derive(Debug, Clone, Copy)]
pub struct Emission<'a> {
    pub topic: &'a str,
    pub summary: &'a str,
    /// A JSON object, as text.
    pub payload: Option<&'a str>,
}

/// The reason why a topic was not published.
#[derive(Debug, thiserror::Error)]
pub enum EmitRefused {
    #[error("the hat `{hat}` does not publish `{topic}`")]
    NotItsTopic { hat: String, topic: String, close: Option<String>, known: Vec<String> },
    #[error("this iteration has already published `{0}` and cannot publish another topic")]
    Already(String),
    #[error("this iteration is over, so it cannot publish a topic")]
    Over,
    #[error("`{topic}` is refused: this run has not published {} yet", missing.iter().map(|topic| format!("`{topic}`")).collect::<Vec<_>>().join(", "))]
    TooEarly { topic: String, missing: Vec<String> },
    #[error("rule `{}` interrupts: {text}", rule.id)]
    Interrupted { rule: Box<Rule>, position: Box<Position>, text: String },
    #[error("the gates of `{topic}` are not met")]
    GatesFailed { topic: String, failed_gates: Vec<FailedGate> },
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    WorkflowError(#[from] WorkflowError),
}

impl EmitRefused {
    /// The refusal as text for the prompt of the next iteration. If gates failed: a summary line and, for each failed
    /// gate, its message.
    fn full_text(&self) -> String {
        let Self::GatesFailed { topic, failed_gates } = self else { return self.to_string() };
        let gates: Vec<&str> = failed_gates.iter().map(|failed_gate| failed_gate.gate.as_str()).collect();
        let summary = match gates.as_slice() {
            [gate] => format!("`{topic}` was refused, because a gate is not met: `{gate}`"),
            _ => format!("`{topic}` was refused, because gates are not met: `{}`", gates.join("`, `")),
        };
        let failed_gates = failed_gates
            .iter()
            .map(|FailedGate { gate, why, .. }| format!("\n- {gate}: {}", why.replace('\n', "\n  ")));
        std::iter::once(summary).chain(failed_gates).collect()
    }

    /// The first gate that waits for a person's approval, if the topic was refused only because approvals are missing;
    /// `None` otherwise.
    fn awaited_approval(&self, hat_phase: &HatPhase) -> Option<String> {
        let Self::GatesFailed { topic, failed_gates } = self else { return None };
        let transitions = hat_phase
            .workflow
            .nodes
            .iter()
            .flat_map(|node| &node.transitions)
            .filter(|transition| transition.to == *topic);
        let requirements: Vec<_> = transitions.flat_map(|transition| &transition.requires).collect();
        let is_approval = |failed_gate: &&FailedGate| {
            requirements
                .iter()
                .any(|required| required.id == failed_gate.gate && matches!(required.gate, Gate::Approval(_)))
        };
        let approvals = failed_gates.iter().filter(is_approval).count();
        (approvals == failed_gates.len())
            .then(|| failed_gates.first().map(|failed_gate| failed_gate.gate.clone()))
            .flatten()
    }
}

impl WorkflowCommands<'_> {
    /// Publishes the topic, or records why it was refused.
    pub fn emit(&self, hat_phase: &HatPhase, emission: Emission<'_>) -> Result<(), EmitRefused> {
        let result = self.check_and_hand_over(hat_phase, emission);
        let why = match &result {
            Ok(()) => None,
            // In these cases, the topic itself was not refused, so nothing is recorded.
            Err(EmitRefused::Work(_) | EmitRefused::WorkflowError(_) | EmitRefused::Over) => return result,
            Err(EmitRefused::GatesFailed { failed_gates, .. }) => {
                Some(failed_gates.iter().map(|failed_gate| failed_gate.gate.as_str()).collect::<Vec<_>>().join(", "))
            }
            Err(refused) => Some(refused.to_string()),
        };
        if let Err(refused) = &result {
            // If this iteration hands nothing over, the prompt of the next one contains the refusal.
            let (text, awaited_approval) = (refused.full_text(), refused.awaited_approval(hat_phase));
            let _ = WorkDatabase::open(&hat_phase.work_path).map(|work| {
                work.record_refusal(hat_phase.run_id(), hat_phase.iteration, &text, awaited_approval.as_deref())
            });
        }
        let fields = self.journal_fields([
            ("run", json!(hat_phase.run_id().to_string())),
            ("iteration", json!(hat_phase.iteration)),
            ("hat", json!(hat_phase.hat())),
            ("topic", json!(emission.topic)),
            ("why", json!(why)),
        ]);
        if let Err(EmitRefused::Interrupted { rule, position, .. }) = &result {
            let _ = self.record_refused_move(&fields, position, Some(rule), Vec::new());
            return result;
        }
        let kind = if result.is_err() { NoteKind::MoveRefused } else { NoteKind::Emit };
        let (root, cwd) = self.root_and_cwd();
        let no_changes = StateChanges::default();
        // If the journal's note cannot be written, the result stays the same.
        let _ = self
            .load_states()
            .map(|mut stored| stored.store.write_note(&self.note(kind, &fields, &no_changes, &root, &cwd)));
        result
    }

    /// Fails if a pace rule of the hat interrupts. The rules are judged as at a move of a workflow.
    fn check_pace_rules(&self) -> Result<(), EmitRefused> {
        let (stored, active) = self.load_active()?;
        let active = Arc::new(active);
        let (_, rules) = Self::pace_rules(&active, &Force::None)?;
        match self.violated_pace_rule(&rules, &active, &stored)? {
            Some(ViolatedPaceRule { rule, text, .. }) => {
                let position = Box::new(active.position.clone());
                Err(EmitRefused::Interrupted { rule: Box::new(rule), position, text })
            }
            None => Ok(()),
        }
    }

    /// Hands the work over if the topic, the hat's pace rules and the gates allow it.
    fn check_and_hand_over(&self, hat_phase: &HatPhase, emission: Emission<'_>) -> Result<(), EmitRefused> {
        let Emission { topic, summary, payload } = emission;
        // This process may belong to an earlier iteration, and still be running. Then it must not hand the work over in
        // the present iteration.
        let is_in_run = self.environment.get(HatPhase::RUN).is_some();
        if is_in_run && self.environment.get(HatPhase::SECRET).as_ref() != Some(&hat_phase.secret) {
            return Err(EmitRefused::Over);
        }
        let transitions = hat_phase.workflow.nodes.iter().flat_map(|node| &node.transitions);
        let Some(transition) = transitions.into_iter().find(|transition| transition.to == topic) else {
            let known: Vec<String> = hat_phase.publishes().map(str::to_owned).collect();
            let close = suggest::closest(topic, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(EmitRefused::NotItsTopic {
                hat: hat_phase.hat().to_owned(),
                topic: topic.to_owned(),
                close,
                known,
            });
        };
        let work = WorkDatabase::open(&hat_phase.work_path)?;
        let (run, iteration) = (hat_phase.run_id(), hat_phase.iteration);
        if let Some(topic) = work.handed_over_topic(run, iteration)? {
            return Err(EmitRefused::Already(topic));
        }
        let completes_run = topic == hat_phase.completion.topic;
        if completes_run {
            let accepted = work.accepted_topics(run)?;
            let is_missing = |topic: &&String| !accepted.contains(topic);
            let missing: Vec<String> = hat_phase.completion.after.iter().filter(is_missing).cloned().collect();
            if !missing.is_empty() {
                return Err(EmitRefused::TooEarly { topic: topic.to_owned(), missing });
            }
        }
        self.check_pace_rules()?;
        if !transition.requires.is_empty() {
            let failed_gates = self.check_hat_gates(transition.requires.iter())?;
            if !failed_gates.is_empty() {
                return Err(EmitRefused::GatesFailed { topic: topic.to_owned(), failed_gates });
            }
        }
        match work.hand_over(run, iteration, hat_phase.hat(), HandOver { topic, summary, payload, completes_run })? {
            HandOverOutcome::Accepted => Ok(()),
            HandOverOutcome::AlreadyHandedOver(topic) => Err(EmitRefused::Already(topic)),
            HandOverOutcome::IterationOver => Err(EmitRefused::Over),
        }
    }
}

#[cfg(test)]
mod tests;
