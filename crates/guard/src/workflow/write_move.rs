//! Writes moves to the journal, with who made them (an agent or a person).
//!
//! A move is written in one transaction, and only if the workflow's state was not changed since it was read: of two
//! concurrent moves, one is refused, and a killed process leaves either the old or the new state. Changes of the
//! session's state do not prevent a move.

use engine::rules::Rule;
use serde_json::{Map, Value, json};
use store::{LOOP_SESSION, Note, NoteKind, PERSON_SESSION, RecordedRuleOutcome, SessionKey, StateChanges};

use super::loaded_states::LoadedStates;
use super::{WorkflowCommands, WorkflowError};
use crate::facts::pace_facts;
use crate::position::Position;
use crate::session::AgentSession;

/// The maximum number of attempts to write a move while hooks keep changing the workflow's state.
const MAX_ATTEMPTS: usize = 50;

impl WorkflowCommands<'_> {
    /// The fields of a note in the journal. Adds the field `by`: who runs this command. Fields with null are left out.
    pub(crate) fn journal_fields<const N: usize>(&self, fields: [(&str, Value); N]) -> Map<String, Value> {
        let by = if self.is_by_agent { "agent" } else { "person" };
        fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value))
            .chain([("by".to_owned(), json!(by))])
            .collect()
    }

    /// The project's root and the working directory, for a note in the journal.
    pub(crate) fn root_and_cwd(&self) -> (String, String) {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        (text(&self.project.root), text(&self.environment.cwd))
    }

    /// The note in the journal about this command.
    pub(crate) fn note<'n>(
        &'n self,
        kind: NoteKind,
        fields: &'n Map<String, Value>,
        changes: &'n StateChanges,
        root: &'n str,
        cwd: &'n str,
    ) -> Note<'n> {
        // A note that changes a session belongs to that session, even if a person runs the command.
        let session = match &self.agent_session {
            Some(AgentSession { agent, id }) if self.is_by_agent || changes.has_session_changes() => {
                SessionKey { agent, session: id }
            }
            _ if self.hat_phase.is_some() => LOOP_SESSION,
            _ => PERSON_SESSION,
        };
        Note { kind, session, time: self.now, root, cwd, fields, changes }
    }

    /// Writes a note with changes, if the workflow's state was not changed since `stored` was read. Otherwise the error
    /// is [`WorkflowError::MovedMeanwhile`] if the workflow has moved, and [`WorkflowError::WriteConflict`] if it has
    /// not.
    pub(crate) fn write(
        &self,
        stored: &mut LoadedStates,
        kind: NoteKind,
        fields: &Map<String, Value>,
        changes: &StateChanges,
    ) -> Result<(), WorkflowError> {
        let (root, cwd) = self.root_and_cwd();
        let note = self.note(kind, fields, changes, &root, &cwd);
        if stored.store.write_workflow_note(&note, &stored.workflow_state)?.is_some() {
            return Ok(());
        }
        let current = Position::of(&stored.store.workflow_state()?.variables);
        if current == Position::of(&stored.workflow_state.variables) {
            return Err(WorkflowError::WriteConflict);
        }
        Err(moved_meanwhile_error(current.as_ref()))
    }

    /// Records that a move was refused. If a pace rule (`refusing_rule`) refused the move, marks that rule as fired,
    /// unless the workflow has moved since.
    pub(crate) fn record_refused_move(
        &self,
        fields: &Map<String, Value>,
        position: &Position,
        refusing_rule: Option<&Rule>,
        rule_outcomes: Vec<RecordedRuleOutcome>,
    ) -> Result<(), WorkflowError> {
        let (root, cwd) = self.root_and_cwd();
        let outcomes_only = StateChanges { rule_outcomes, ..StateChanges::default() };
        Self::retry_on_conflict(|| {
            let mut stored = self.load_states()?;
            let is_still_there = Position::of(&stored.workflow_state.variables).as_ref() == Some(position);
            let Some(rule) = refusing_rule.filter(|_| is_still_there) else {
                stored.store.write_note(&self.note(NoteKind::MoveRefused, fields, &outcomes_only, &root, &cwd))?;
                return Ok(());
            };
            let mut changes = outcomes_only.clone();
            pace_facts::mark_as_fired(&rule.digest, &stored.workflow_state.variables, &mut changes);
            self.write(&mut stored, NoteKind::MoveRefused, fields, &changes)
        })
    }

    /// Calls `attempt` again, at most [`MAX_ATTEMPTS`] times in all, while it fails because another process changed the
    /// workflow's state at the same time.
    pub(crate) fn retry_on_conflict<T>(attempt: impl Fn() -> Result<T, WorkflowError>) -> Result<T, WorkflowError> {
        for _ in 1..MAX_ATTEMPTS {
            match attempt() {
                Err(WorkflowError::WriteConflict) => {}
                result => return result,
            }
        }
        attempt()
    }
}

/// The error that the workflow has moved. `current` is its position now; `None` if it is no longer active.
pub(super) fn moved_meanwhile_error(current: Option<&Position>) -> WorkflowError {
    let current = current.map(|position| format!("at `{}`", position.node()));
    WorkflowError::MovedMeanwhile(current.unwrap_or_else(|| "no longer active".to_owned()))
}
