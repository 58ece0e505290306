//! Begins an iteration under a hat, before the agent starts: stores the [`HatPhase`] and the position, and resets the
//! counters of the phase.

use engine::facts::PhaseField;
use serde_json::json;
use std::sync::Arc;
use store::{NoteKind, StateChanges};
use tree::Tree;

use crate::file_rules::{GIT_TIMEOUT, PromptBaseline};
use crate::position::Position;
use crate::session::HatPhase;
use crate::timestamp::timestamp;
use crate::workflow::{WorkflowCommands, WorkflowError};

impl WorkflowCommands<'_> {
    /// Begins an iteration in which a hat works on `topic`. INVARIANT: this [`WorkflowCommands`] was created for
    /// `hat_phase`.
    pub fn enter_iteration(&self, hat_phase: &mut HatPhase, topic: &str) -> Result<(), WorkflowError> {
        let iteration = hat_phase.iteration;
        let last = HatPhase::of_run(hat_phase.run_id(), self.project, self.environment);
        // If the database of runs was deleted, the state directory may still have the hat phase of an earlier run with
        // the same id. That hat phase must be ignored: its iteration is not lower than this one.
        let is_same_activation = |last: &HatPhase| last.topic_id == hat_phase.topic_id && last.iteration < iteration;
        if let Some(last) = last.filter(|last| is_same_activation(last) && last.compares_trees()) {
            // The snapshot of the earlier iteration is kept: compared with a new snapshot, the changes because of which
            // gates failed would no longer be visible.
            hat_phase.snapshot_time = last.snapshot_time;
        } else if hat_phase.compares_trees()
            && let Some(tree) = Tree::of(&self.project.root, GIT_TIMEOUT)
        {
            let prompt_baseline =
                PromptBaseline::new(&self.project.tmp(self.environment), &hat_phase.snapshot_name(), self.now);
            // If no snapshot can be taken, gates compare the working tree with the base of the branch.
            hat_phase.snapshot_time =
                prompt_baseline.take_snapshot(&tree, timestamp(self.now)).is_ok().then_some(self.now);
        }
        hat_phase.save(self.project, self.environment)?;
        let position = Position::of_hat_phase(hat_phase, self.now).with_head_of(&self.project.root);
        let fields = self.journal_fields([
            ("run", json!(hat_phase.run_id().to_string())),
            ("iteration", json!(iteration)),
            ("hat", json!(hat_phase.hat())),
            ("topic", json!(topic)),
        ]);
        Self::retry_on_conflict(|| {
            let mut stored = self.load_states()?;
            let mut changes = StateChanges::default();
            let active = self.active_at(hat_phase.workflow.clone(), position.clone(), stored.workflow_state.clone());
            active.unset_phase_variables(&mut changes);
            position.add_to(&mut changes);
            self.write(&mut stored, NoteKind::Iteration, &fields, &changes)
        })
    }

    /// The tokens that the iteration has used so far; `None` if the number is unknown.
    pub fn tokens_of_iteration(&self) -> Option<i64> {
        let (stored, active) = self.load_active().ok()?;
        let situation = self.situation(&Arc::new(active), &stored);
        situation.facts.phase(PhaseField::Tokens).ok()?.as_i64()
    }
}
