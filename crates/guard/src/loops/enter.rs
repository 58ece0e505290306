//! Begins an iteration under a hat: resets the phase's counters and writes the [`HatPhase`] before the agent starts.

use engine::facts::PhaseField;
use serde_json::json;
use std::sync::Arc;
use store::{NoteKind, StateChanges};
use tree::Tree;

use crate::file_rules::{GIT_TIMEOUT, PromptBaseline, timestamp};
use crate::position::Position;
use crate::session::HatPhase;
use crate::workflow::{WorkflowCommands, WorkflowError};

impl WorkflowCommands<'_> {
    /// Begins an iteration. INVARIANT: this [`WorkflowCommands`] was created for the same hat phase.
    pub fn enter_iteration(&self, hat_phase: &mut HatPhase, topic: &str) -> Result<(), WorkflowError> {
        let iteration = hat_phase.iteration;
        let last = HatPhase::of_run(hat_phase.run_id(), self.project, self.environment);
        // The state directory may still have the phase of another run with the same id, whose database was deleted.
        let is_same_activation = |last: &HatPhase| last.topic_id == hat_phase.topic_id && last.iteration < iteration;
        if let Some(last) = last.filter(|last| is_same_activation(last) && last.compares_trees()) {
            // With a later snapshot, changes that gates refused would count as unchanged.
            hat_phase.baseline = last.baseline;
        } else if hat_phase.compares_trees()
            && let Some(tree) = Tree::of(&self.project.root, GIT_TIMEOUT)
        {
            let prompt_baseline =
                PromptBaseline::new(&self.project.tmp(self.environment), &hat_phase.baseline_name(), self.now);
            // Without a snapshot, gates compare with the base of the branch.
            hat_phase.baseline = prompt_baseline.take_snapshot(&tree, timestamp(self.now)).is_ok().then_some(self.now);
        }
        hat_phase.save(self.project, self.environment)?;
        let position = Position::of_hat_phase(hat_phase, self.now).with_head_of(&self.project.root);
        let fields = self.fields([
            ("run", json!(hat_phase.run_id().to_string())),
            ("iteration", json!(iteration)),
            ("hat", json!(hat_phase.hat())),
            ("topic", json!(topic)),
        ]);
        Self::retry_on_conflict(|| {
            let mut stored = self.stored_state()?;
            let mut changes = StateChanges::default();
            let active = self.active_at(hat_phase.workflow.clone(), position.clone(), stored.workflow.clone());
            active.unset_phase_variables(&mut changes);
            position.store(&mut changes);
            self.write(&mut stored, NoteKind::Iteration, &fields, &changes)
        })
    }

    /// The tokens of the iteration so far; `None` if no agent reports them.
    pub fn tokens_of_iteration(&self) -> Option<i64> {
        let (stored, active) = self.load_active().ok()?;
        let situation = self.situation(&Arc::new(active), &stored);
        situation.facts.phase(PhaseField::Tokens).ok()?.as_i64()
    }
}
