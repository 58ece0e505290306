//! Reads a session's state, lets the caller judge an event by it, and records the result: an optimistic transaction.
//!
//! Judging may take a while (a slow `git`, an observer that runs a program). If it held the write lock, the events of
//! all other sessions would wait. Therefore:
//!
//! 1. [`Store::begin`] reads the state and its revision without taking a lock.
//! 2. [`JudgementTransaction::record`] takes the write lock and writes. If the event changes variables or counters and
//!    the stored revision is no longer the one that was read, it writes nothing and returns
//!    [`RecordOutcome::Conflict`], which has the current state **and keeps the lock**. The caller judges and records
//!    again; this time the state cannot change in between.
//!
//! So no count is lost, two simultaneous events cannot exceed a limit together, and no event is judged more than twice
//! (a third time only if the database turns out to be corrupt in the second round).
//! A process waits while another one judges only in that rare second round. (If the second round read the state without
//! the lock, a process could starve under load: the state would have changed each time it obtained the lock.) An event
//! that changes no state needs no check: its verdict is valid for the moment at which the state was read.

use std::fmt;

use engine::Event;

use crate::{EntryId, EventRecord, Result, SessionKey, Store, StoreError, StoredState, replace_corrupt};

/// The state that one event is judged by. Dropping it writes nothing.
pub struct JudgementTransaction<'s> {
    store: &'s mut Store,
    state: StoredState,
    /// The state of the workflow or, in a run, of its hat. Empty if none is active.
    workflow: StoredState,
    /// True while an SQLite write transaction is open.
    is_locked: bool,
}

#[derive(Debug)]
#[must_use]
pub enum RecordOutcome<'s> {
    Stored(EntryId),
    /// The state has changed since it was read. Nothing was written: judge again by the new state.
    Conflict(Box<JudgementTransaction<'s>>),
}

impl Store {
    /// Reads the state of a session in order to judge an event of it.
    pub fn begin(&mut self, key: SessionKey<'_>) -> Result<JudgementTransaction<'_>> {
        let (state, workflow) = match self.read_states(key) {
            Err(StoreError::Corrupt) => {
                self.replace_corrupt()?;
                self.read_states(key)?
            }
            read => read?,
        };
        Ok(JudgementTransaction { store: self, state, workflow, is_locked: false })
    }

    fn read_states(&self, key: SessionKey<'_>) -> Result<(StoredState, StoredState)> {
        Ok((self.session_state(key)?, self.workflow_state()?))
    }

    /// Renames this database, and continues with an empty one.
    fn replace_corrupt(&mut self) -> Result<()> {
        let mut new = replace_corrupt::replace(&self.path, self.options, Some(&self.connection))?;
        new.notices.splice(0..0, self.take_notices());
        *self = new;
        Ok(())
    }
}

impl<'s> JudgementTransaction<'s> {
    pub fn session_state(&self) -> &StoredState {
        &self.state
    }

    pub fn workflow_state(&self) -> &StoredState {
        &self.workflow
    }

    /// See [`Store::input_digest`].
    pub fn input_digest(&mut self, event: &Event) -> Result<Option<String>> {
        self.store.input_digest(event)
    }

    /// Writes the event, its verdict and its changes in one transaction.
    ///
    /// INVARIANT: `record.event` belongs to the session that was passed to [`Store::begin`].
    pub fn record(mut self, record: &EventRecord<'_>) -> Result<RecordOutcome<'s>> {
        match self.write(record) {
            Ok(Some(id)) => {
                self.commit()?;
                self.store.checkpoint_long_wal();
                Ok(RecordOutcome::Stored(id))
            }
            Ok(None) => Ok(RecordOutcome::Conflict(Box::new(self))),
            Err(StoreError::Corrupt) => {
                self.rollback();
                self.store.replace_corrupt()?;
                self.lock()?;
                (self.state, self.workflow) = self.store.read_states(record.session_key())?;
                Ok(RecordOutcome::Conflict(Box::new(self)))
            }
            Err(error) => Err(error),
        }
    }

    /// Writes inside a transaction. If the state has changed in between, returns `None`; `self` then has the new state.
    fn write(&mut self, record: &EventRecord<'_>) -> Result<Option<EntryId>> {
        let writes = self.state.writes(record.changes);
        let workflow_writes = self.workflow.workflow_writes(record.changes);
        if !self.is_locked {
            self.lock()?;
            let has_changed = !writes.is_empty() && self.has_changed(record.session_key(), &self.state)?
                || !workflow_writes.is_empty() && self.has_changed(self.store.workflow_key(), &self.workflow)?;
            if has_changed {
                (self.state, self.workflow) = self.store.read_states(record.session_key())?;
                return Ok(None);
            }
        }
        let session = match self.state.id {
            Some(id) => id,
            None => self.store.intern_session(record.session_key(), record.root, record.event.time)?,
        };
        let id = self.store.insert_event(session, record)?;
        self.store.insert_attempts(session, id, &record.changes.attempts, record.root)?;
        self.store.count_rule_outcomes(session, &record.changes.rule_outcomes, record.root, record.event.time)?;
        if !writes.is_empty() {
            self.store.write_state(session, self.state.revision, &writes)?;
        }
        if let (Some(workflow), false) = (self.workflow.id, workflow_writes.is_empty()) {
            self.store.write_state(workflow, self.workflow.revision, &workflow_writes)?;
        }
        Ok(Some(id))
    }

    /// True if another process changed the state since `last_read` was read. If the session had no row then, it may
    /// have one now.
    fn has_changed(&self, key: SessionKey<'_>, last_read: &StoredState) -> Result<bool> {
        let id = match last_read.id {
            Some(id) => Some(id),
            None => self.store.session_id(key)?,
        };
        Ok(id.map_or(Ok(0), |id| self.store.revision(id))? != last_read.revision)
    }

    fn lock(&mut self) -> Result<()> {
        self.store.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.is_locked = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.store.connection.execute_batch("COMMIT")?;
        self.is_locked = false;
        Ok(())
    }

    /// SQLite may have rolled back already (on a full disk).
    fn rollback(&mut self) {
        if self.is_locked && !self.store.connection.is_autocommit() {
            let _ = self.store.connection.execute_batch("ROLLBACK");
        }
        self.is_locked = false;
    }
}

impl Drop for JudgementTransaction<'_> {
    fn drop(&mut self) {
        self.rollback();
    }
}

impl fmt::Debug for JudgementTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgementTransaction")
            .field("state", &self.state)
            .field("is_locked", &self.is_locked)
            .finish_non_exhaustive()
    }
}
