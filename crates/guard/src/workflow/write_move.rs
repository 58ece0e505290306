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
const MAX_ATTEMPTS: usize = 50;

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
        let session = match &self.session_owner {
            Some(SessionOwner { agent, id }) if self.is_by_agent || changes.has_session_changes() => {
                SessionKey { agent, session: id }
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
        if stored.store.write_workflow_note(&note, &stored.workflow)?.is_some() {
            return Ok(());
        }
        let current = Position::of(&stored.store.workflow()?.variables);
        if current == Position::of(&stored.workflow.variables) {
            return Err(WorkflowError::WriteConflict);
        }
        Err(moved_meanwhile_error(current.as_ref()))
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
        let outcomes_only = StateChanges { rule_outcomes, ..StateChanges::default() };
        Self::retry_on_conflict(|| {
            let mut stored = self.stored_state()?;
            let is_still_there = Position::of(&stored.workflow.variables).as_ref() == Some(position);
            let Some(rule) = interrupting.filter(|_| is_still_there) else {
                stored.store.write_note(&self.note(NoteKind::MoveRefused, fields, &outcomes_only, &root, &cwd))?;
                return Ok(());
            };
            let mut changes = outcomes_only.clone();
            pace_facts::mark_as_fired(&rule.digest, &stored.workflow.variables, &mut changes);
            self.write(&mut stored, NoteKind::MoveRefused, fields, &changes)
        })
    }

    /// Calls `decide` again if it fails because a hook wrote to the workflow's state at the same time.
    pub(crate) fn retry_on_conflict<T>(decide: impl Fn() -> Result<T, WorkflowError>) -> Result<T, WorkflowError> {
        for _ in 1..MAX_ATTEMPTS {
            match decide() {
                Err(WorkflowError::WriteConflict) => {}
                result => return result,
            }
        }
        decide()
    }
}

pub(super) fn moved_meanwhile_error(current: Option<&Position>) -> WorkflowError {
    let current = current.map(|position| format!("at `{}`", position.node()));
    WorkflowError::MovedMeanwhile(current.unwrap_or_else(|| "no longer active".to_owned()))
}
