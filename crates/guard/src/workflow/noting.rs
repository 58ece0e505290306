//! Writes moves to the journal: with the agent or person who made them, and only if the workflow has not moved
//! meanwhile.

use engine::rules::Rule;
use serde_json::{Map, Value, json};
use store::{LOOP_SESSION, Note, NoteKind, PERSON_SESSION, RecordedRuleOutcome, SessionKey, StateChanges};

use super::scene::Scene;
use super::{Moves, Refusal};
use crate::facts::{Position, pace_facts};
use crate::session::SessionOwner;

/// The maximum number of attempts when hooks keep writing at the same time.
const ATTEMPTS: usize = 50;

impl Moves<'_> {
    pub(crate) fn fields<const N: usize>(&self, fields: [(&str, Value); N]) -> Map<String, Value> {
        let by = if self.is_agents { "agent" } else { "person" };
        fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value))
            .chain([("by".to_owned(), json!(by))])
            .collect()
    }

    pub(crate) fn places(&self) -> (String, String) {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        (text(&self.project.root), text(&self.environment.cwd))
    }

    pub(crate) fn note<'n>(
        &'n self,
        kind: NoteKind,
        fields: &'n Map<String, Value>,
        changes: &'n StateChanges,
        root: &'n str,
        cwd: &'n str,
    ) -> Note<'n> {
        // Changes to a session are recorded in that session, even if a person makes them.
        let session = match &self.session {
            Some(SessionOwner { agent, session }) if self.is_agents || changes.changes_session() => {
                SessionKey { agent, session }
            }
            _ if self.stage.is_some() => LOOP_SESSION,
            _ => PERSON_SESSION,
        };
        Note { kind, session, time: self.now, root, cwd, fields, changes }
    }

    /// Writes a move, if the workflow is still where it was when the move was decided.
    pub(crate) fn write(
        &self,
        scene: &mut Scene,
        kind: NoteKind,
        fields: &Map<String, Value>,
        changes: &StateChanges,
    ) -> Result<(), Refusal> {
        let (root, cwd) = self.places();
        let note = self.note(kind, fields, changes, &root, &cwd);
        if scene.store.note_workflow_change(&note, &scene.state)?.is_some() {
            return Ok(());
        }
        let now = Position::of(&scene.store.workflow()?.variables);
        if now == Position::of(&scene.state.variables) {
            return Err(Refusal::WrittenMeanwhile);
        }
        Err(moved_meanwhile(now.as_ref()))
    }

    /// Records that a move was refused. If a pace rule refused it, the rule is marked as fired, unless the workflow has
    /// moved meanwhile.
    pub(crate) fn note_held(
        &self,
        fields: &Map<String, Value>,
        position: &Position,
        interrupting: Option<&Rule>,
        rule_outcomes: Vec<RecordedRuleOutcome>,
    ) -> Result<(), Refusal> {
        let (root, cwd) = self.places();
        let plain = StateChanges { rule_outcomes, ..StateChanges::default() };
        Self::until_written(|| {
            let mut scene = self.scene()?;
            let is_there = Position::of(&scene.state.variables).as_ref() == Some(position);
            let Some(rule) = interrupting.filter(|_| is_there) else {
                scene.store.note(&self.note(NoteKind::Held, fields, &plain, &root, &cwd))?;
                return Ok(());
            };
            let mut changes = plain.clone();
            pace_facts::remember_refused_move(&rule.digest, &scene.state.variables, &mut changes);
            self.write(&mut scene, NoteKind::Held, fields, &changes)
        })
    }

    /// Retries `decide` while it fails because a hook wrote to the workflow at the same time.
    pub(crate) fn until_written<T>(decide: impl Fn() -> Result<T, Refusal>) -> Result<T, Refusal> {
        for _ in 1..ATTEMPTS {
            match decide() {
                Err(Refusal::WrittenMeanwhile) => {}
                done => return done,
            }
        }
        decide()
    }
}

pub(super) fn moved_meanwhile(now: Option<&Position>) -> Refusal {
    let now = now.map(|position| format!("at `{}`", position.node()));
    Refusal::MovedMeanwhile(now.unwrap_or_else(|| "not active any more".to_owned()))
}
