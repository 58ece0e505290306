//! Writes moves to the journal: with the agent or person who made them, and only if the workflow has not moved
//! meanwhile.

use engine::rules::Rule;
use serde_json::{Map, Value, json};
use store::{LOOP_SESSION, Note, NoteKind, PERSON_SESSION, RecordedRuleOutcome, SessionKey, StateChanges};

use super::stored_state::StoredState;
use super::{WorkflowCommands, WorkflowError};
use crate::facts::pace_facts;
use crate::position::Position;
use crate::session::SessionOwner;

/// The maximum number of attempts when hooks keep writing at the same time.
const MAX_RETRIES: usize = 50;

impl WorkflowCommands<'_> {
    pub(crate) fn fields<const N: usize>(&self, fields: [(&str, Value); N]) -> Map<String, Value> {
        let by = if self.is_by_agent { "agent" } else { "person" };
        fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value))
            .chain([("by".to_owned(), json!(by))])
            .collect()
    }

    pub(crate) fn root_and_cwd(&self) -> (String, String) {
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
            Some(SessionOwner { agent, session }) if self.is_by_agent || changes.changes_session() => {
                SessionKey { agent, session }
            }
            _ if self.hat_phase.is_some() => LOOP_SESSION,
            _ => PERSON_SESSION,
        };
        Note { kind, session, time: self.now, root, cwd, fields, changes }
    }

    /// Writes a move, if the workflow is still at the position at which the move was decided.
    pub(crate) fn write(
        &self,
        stored: &mut StoredState,
        kind: NoteKind,
        fields: &Map<String, Value>,
        changes: &StateChanges,
    ) -> Result<(), WorkflowError> {
        let (root, cwd) = self.root_and_cwd();
        let note = self.note(kind, fields, changes, &root, &cwd);
        if stored.store.note_workflow_change(&note, &stored.state)?.is_some() {
            return Ok(());
        }
        let now = Position::of(&stored.store.workflow()?.variables);
        if now == Position::of(&stored.state.variables) {
            return Err(WorkflowError::WriteConflict);
        }
        Err(moved_meanwhile_error(now.as_ref()))
    }

    /// Records that a move was refused. If a pace rule refused it, the rule is marked as fired, unless the workflow has
    /// moved meanwhile.
    pub(crate) fn record_refused_move(
        &self,
        fields: &Map<String, Value>,
        position: &Position,
        interrupting: Option<&Rule>,
        rule_outcomes: Vec<RecordedRuleOutcome>,
    ) -> Result<(), WorkflowError> {
        let (root, cwd) = self.root_and_cwd();
        let plain = StateChanges { rule_outcomes, ..StateChanges::default() };
        Self::retry_on_conflict(|| {
            let mut stored = self.stored_state()?;
            let is_there = Position::of(&stored.state.variables).as_ref() == Some(position);
            let Some(rule) = interrupting.filter(|_| is_there) else {
                stored.store.note(&self.note(NoteKind::Held, fields, &plain, &root, &cwd))?;
                return Ok(());
            };
            let mut changes = plain.clone();
            pace_facts::remember_refused_move(&rule.digest, &stored.state.variables, &mut changes);
            self.write(&mut stored, NoteKind::Held, fields, &changes)
        })
    }

    /// Calls `decide` again if it fails because a hook wrote to the workflow's state at the same time.
    pub(crate) fn retry_on_conflict<T>(decide: impl Fn() -> Result<T, WorkflowError>) -> Result<T, WorkflowError> {
        for _ in 1..MAX_RETRIES {
            match decide() {
                Err(WorkflowError::WriteConflict) => {}
                done => return done,
            }
        }
        decide()
    }
}

pub(super) fn moved_meanwhile_error(now: Option<&Position>) -> WorkflowError {
    let now = now.map(|position| format!("at `{}`", position.node()));
    WorkflowError::MovedMeanwhile(now.unwrap_or_else(|| "no longer active".to_owned()))
}
