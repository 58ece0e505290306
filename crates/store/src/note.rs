//! Notes: journal entries that are not events of agents, such as pauses, acknowledgements and moves of a workflow.

use rusqlite::{Transaction, TransactionBehavior, params};
use serde_json::{Map, Value};

use crate::{EntryId, Masked, Result, SessionKey, StateChanges, Store, mask};

/// A journal entry that is not an event. It is stored as a row of `events` with a kind of its own.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    pub kind: NoteKind,
    /// The session that the note belongs to, or [`PERSON_SESSION`] or [`LOOP_SESSION`].
    pub session: SessionKey<'a>,
    /// Milliseconds since 1970.
    pub time: i64,
    pub root: &'a str,
    pub cwd: &'a str,
    /// The data of the note, by name.
    pub fields: &'a Map<String, Value>,
    pub changes: &'a StateChanges,
}

/// The key of notes by commands that a person runs outside of sessions.
pub const PERSON_SESSION: SessionKey<'static> = SessionKey { agent: "person", session: "" };

/// The key of notes of a run of a loop.
pub const LOOP_SESSION: SessionKey<'static> = SessionKey { agent: "loop", session: "" };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    Ack,
    Allow,
    /// A workflow was aborted.
    Abort,
    /// A person approved a gate.
    Approve,
    /// A person or an agent ran `linchpin continue`, which restarts the limits of pace rules that fired.
    Continue,
    /// The agent of a hat published a topic with `linchpin emit`.
    Emit,
    /// A gate or a pace rule refused a move of a workflow, or a topic that a hat wanted to publish.
    MoveRefused,
    /// An iteration of a run began.
    Iteration,
    /// A workflow moved from one node to another.
    Move,
    Pause,
    /// An agent reported progress.
    Progress,
    Resume,
    /// A run of a loop began, was resumed, or ended.
    Run,
    /// A person or an agent set a variable with `linchpin set`.
    Set,
    /// A workflow was started.
    Start,
    /// A person asked a run or a session to stop.
    StopRequested,
    /// A session claimed or finished a task.
    Task,
}

impl NoteKind {
    pub const ALL: [Self; 17] = [
        Self::Ack,
        Self::Allow,
        Self::Abort,
        Self::Approve,
        Self::Continue,
        Self::Emit,
        Self::MoveRefused,
        Self::Iteration,
        Self::Move,
        Self::Pause,
        Self::Progress,
        Self::Resume,
        Self::Run,
        Self::Set,
        Self::Start,
        Self::StopRequested,
        Self::Task,
    ];

    /// The stored name, as in existing journals. It differs from the names of all event kinds.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ack => "ack",
            Self::Allow => "allow",
            Self::Abort => "abort",
            Self::Approve => "approve",
            Self::Continue => "continue",
            Self::Emit => "emit",
            Self::MoveRefused => "held",
            Self::Iteration => "iteration",
            Self::Move => "move",
            Self::Pause => "pause",
            Self::Progress => "progress",
            Self::Resume => "resume",
            Self::Run => "run",
            Self::Set => "set",
            Self::Start => "start",
            Self::StopRequested => "stop_asked",
            Self::Task => "task",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Store {
    /// Writes the note and its changes to session variables, counters and rule counts in one transaction. For changes
    /// to the workflow, use [`Store::write_workflow_note`].
    pub fn write_note(&mut self, note: &Note<'_>) -> Result<EntryId> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let id = self.insert_note(note)?;
        transaction.commit()?;
        self.checkpoint_long_wal();
        Ok(id)
    }

    /// Called inside a write transaction.
    pub(crate) fn insert_note(&self, note: &Note<'_>) -> Result<EntryId> {
        let session = self.intern_session(note.session, note.root, note.time)?;
        self.connection
            .prepare_cached(
                "INSERT INTO events (session, time, kind, level, approved, name, command_missing, cwd, held_before, \
                 fields, changes) VALUES (?1, ?2, ?3, 'allow', 0, '', 0, ?4, 0, ?5, ?6)",
            )?
            .execute(params![
                session,
                note.time,
                note.kind.name(),
                mask(note.cwd),
                Masked::json_of_fields(note.fields),
                Masked::json_of_fields(&note.changes.journal_variables())
            ])?;
        let id = EntryId(self.connection.last_insert_rowid());
        self.count_rule_outcomes(session, &note.changes.rule_outcomes, note.root, note.time)?;
        let state = self.session_state(note.session)?;
        let writes = state.writes(note.changes);
        if !writes.is_empty() {
            self.write_state(session, state.revision, &writes)?;
        }
        Ok(id)
    }
}
