//! What is written into the journal besides the events of agents: what people did to the guard, and acknowledgements.

use rusqlite::{Transaction, TransactionBehavior, params};
use serde_json::{Map, Value};

use crate::record::json_map;
use crate::{Changes, EventId, Result, SessionKey, Store, mask};

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
    pub changes: &'a Changes,
}

/// Whose notes those are that belong to no session.
pub const PERSON: SessionKey<'static> = SessionKey { agent: "person", session: "" };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    Ack,
    Allow,
    Pause,
    Resume,
}

impl NoteKind {
    pub const ALL: [Self; 4] = [Self::Ack, Self::Allow, Self::Pause, Self::Resume];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ack => "ack",
            Self::Allow => "allow",
            Self::Pause => "pause",
            Self::Resume => "resume",
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
                json_map(note.fields),
                json_map(&note.changes.values())
            ])?;
        let id = EventId(self.connection.last_insert_rowid());
        let state = self.session(note.session)?;
        let writes = state.writes(note.changes);
        if !writes.is_empty() {
            self.write_state(session, state.revision, &writes)?;
        }
        transaction.commit()?;
        self.checkpoint_if_long();
        Ok(id)
    }
}
