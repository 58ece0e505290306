//! What is written into the journal besides the events of agents: what people did to the guard, and acknowledgements.

use rusqlite::{Transaction, TransactionBehavior, params};
use serde_json::{Map, Value};

use crate::{EventId, Masked, Result, SessionKey, StateChanges, Store, mask};

/// A record of another sort than an event. It lies among the events, under a kind of its own, and `fields` says the rest.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    pub kind: NoteKind,
    /// The session it is about, or [`PERSON`].
    pub session: SessionKey<'a>,
    /// Milliseconds since 1970.
    pub time: i64,
    pub root: &'a str,
    pub cwd: &'a str,
    pub fields: &'a Map<String, Value>,
    pub changes: &'a StateChanges,
}

/// Whose notes those are that belong to no session.
pub const PERSON: SessionKey<'static> = SessionKey { agent: "person", session: "" };

/// Whose notes those are that a run of the loop makes.
pub const LOOP: SessionKey<'static> = SessionKey { agent: "loop", session: "" };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    Ack,
    Allow,
    /// A workflow was left before it was done.
    Abort,
    /// A person said yes to a gate.
    Approve,
    /// Somebody went on deliberately, past what a pace rule said.
    Continue,
    /// A hat handed the work over.
    Emit,
    /// A move or a hand-over that a gate or a pace rule refused.
    Held,
    /// An iteration of a run began.
    Iteration,
    /// From one node of a workflow to another.
    Move,
    Pause,
    /// An agent said how far it is.
    Progress,
    Resume,
    /// A run of a loop began, went on or ended.
    Run,
    /// A variable was given a value by hand.
    Set,
    /// A workflow began.
    Start,
    /// A person asked a run or a session to stop.
    StopAsked,
    /// A session took a task on, or ended it.
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
        Self::Held,
        Self::Iteration,
        Self::Move,
        Self::Pause,
        Self::Progress,
        Self::Resume,
        Self::Run,
        Self::Set,
        Self::Start,
        Self::StopAsked,
        Self::Task,
    ];

    /// None of these is the name of an event's kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ack => "ack",
            Self::Allow => "allow",
            Self::Abort => "abort",
            Self::Approve => "approve",
            Self::Continue => "continue",
            Self::Emit => "emit",
            Self::Held => "held",
            Self::Iteration => "iteration",
            Self::Move => "move",
            Self::Pause => "pause",
            Self::Progress => "progress",
            Self::Resume => "resume",
            Self::Run => "run",
            Self::Set => "set",
            Self::Start => "start",
            Self::StopAsked => "stop_asked",
            Self::Task => "task",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Store {
    /// Writes the note and its changes in one transaction.
    pub fn note(&mut self, note: &Note<'_>) -> Result<EventId> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let id = self.insert_note(note)?;
        transaction.commit()?;
        self.checkpoint_if_long();
        Ok(id)
    }

    /// Inside a transaction for writing.
    pub(crate) fn insert_note(&self, note: &Note<'_>) -> Result<EventId> {
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
                Masked::json_of_fields(&note.changes.values())
            ])?;
        let id = EventId(self.connection.last_insert_rowid());
        self.count_deeds(session, &note.changes.deeds, note.root, note.time)?;
        let state = self.session(note.session)?;
        let writes = state.writes(note.changes);
        if !writes.is_empty() {
            self.write_state(session, state.revision, &writes)?;
        }
        Ok(id)
    }
}
