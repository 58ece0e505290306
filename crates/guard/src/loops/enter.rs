//! Putting a hat on: what the last iteration counted is forgotten, and the stage is set before the agent starts.

use engine::facts::PhaseField;
use serde_json::json;
use std::sync::Arc;
use store::{NoteKind, StateChanges};
use tree::{Repository, Tree};

use crate::facts::Position;
use crate::file_rules::{GIT_LIMIT, PromptBaseline, timestamp};
use crate::session::Stage;
use crate::workflow::{Moves, Refusal};

impl Moves<'_> {
    /// Sets the stage for an iteration. INVARIANT: these moves are about the same stage.
    pub fn enter_iteration(&self, stage: &mut Stage, topic: &str) -> Result<(), Refusal> {
        let iteration = stage.iteration;
        let last = Stage::of_run(stage.id(), self.project, self.environment);
        // The state folder may still have the stage of another run, with the same number, of a database that was deleted.
        let is_restart = |last: &Stage| last.published == stage.published && last.iteration < iteration;
        if let Some(last) = last.filter(|last| is_restart(last) && last.compares()) {
            // A later baseline would take what was refused as given.
            stage.baseline = last.baseline;
        } else if stage.compares()
            && let Some(tree) = Tree::of(&self.project.root, GIT_LIMIT)
        {
            let kept = PromptBaseline::new(&self.project.tmp(self.environment), &stage.baseline_name(), self.now);
            // Where it cannot be kept, what changed is what changed since the base of the branch.
            stage.baseline = kept.take(&tree, timestamp(self.now)).is_ok().then_some(self.now);
        }
        stage.set(self.project, self.environment)?;
        let head = Repository::of(&self.project.root).and_then(|repository| repository.head());
        let position = Position::of_stage(stage, self.now).at_commit(head);
        let fields = self.fields([
            ("run", json!(stage.id().to_string())),
            ("iteration", json!(iteration)),
            ("hat", json!(stage.hat())),
            ("topic", json!(topic)),
        ]);
        Self::until_written(|| {
            let mut scene = self.scene()?;
            let mut changes = StateChanges::default();
            let before = self.active_at(stage.workflow.clone(), position.clone(), scene.state.clone());
            before.forget_phase(&mut changes);
            position.remember(&mut changes);
            self.write(&mut scene, NoteKind::Iteration, &fields, &changes)
        })
    }

    /// The tokens of the iteration so far; none where no agent tells.
    pub fn tokens_of_iteration(&self) -> Option<i64> {
        let (scene, active) = self.active().ok()?;
        let situation = self.situation(&Arc::new(active), &scene);
        situation.facts.phase(PhaseField::Tokens).ok()?.as_i64()
    }
}
