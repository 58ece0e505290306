//! Reading a session's state, judging by it, and recording the outcome, as one consistent step.
//!
//! Judging may take a while (a slow `git`, a behavior that runs a program), and every other session's events would
//! wait if it held the lock for writing. So it does not:
//!
//! 1. [`Store::begin`] reads the state, with its revision, and holds nothing.
//! 2. [`Judgement::record`] takes the lock and writes. If the event changes variables or counters and the revision is
//!    no longer the one that was read, nothing is written and the judgement comes back as [`Recorded::Moved`], with the
//!    state as it is now **and with the lock**: judged again and recorded again, it cannot move a second time.
//!
//! So no count is lost, no cap overrun by two events at once, nobody waits for another's judging but in that rare
//! second round, and no event is judged more than twice. (Taking turns at rereading instead would starve under load:
//! whoever waited for the lock would find the state moved each time.) An event that changes no state needs no check:
//! it was judged by the state at the moment it was read.

use std::fmt;

use engine::Event;

use crate::{EventId, Record, Result, SessionKey, SessionState, Store, StoreError, aside};

/// A session's state, for the judgement of one event. Dropped, it leaves no trace.
pub struct Judgement<'s> {
    store: &'s mut Store,
    state: SessionState,
    /// Of the workflow, active or not.
    workflow: SessionState,
    /// Whether a transaction for writing is open.
    locked: bool,
}

/// What became of a record.
#[derive(Debug)]
#[must_use]
pub enum Recorded<'s> {
    Stored(EventId),
    /// The state is not the one that was judged by. Nothing was written: judge again by this one.
    Moved(Box<Judgement<'s>>),
}

impl Store {
    /// Reads the state of a session that an event is to be judged by.
    pub fn begin(&mut self, key: SessionKey<'_>) -> Result<Judgement<'_>> {
        let (state, workflow) = match self.states(key) {
            Err(StoreError::Corrupt) => {
                self.replace()?;
                self.states(key)?
            }
            read => read?,
        };
        Ok(Judgement { store: self, state, workflow, locked: false })
    }

    fn states(&self, key: SessionKey<'_>) -> Result<(SessionState, SessionState)> {
        Ok((self.session(key)?, self.workflow()?))
    }

    /// Sets this database aside and goes on with an empty one.
    fn replace(&mut self) -> Result<()> {
        let mut new = aside::replace(&self.path, self.options, Some(&self.connection))?;
        new.notices.splice(0..0, self.take_notices());
        *self = new;
        Ok(())
    }
}

impl<'s> Judgement<'s> {
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    pub fn workflow(&self) -> &SessionState {
        &self.workflow
    }

    /// See [`Store::input_digest`].
    pub fn input_digest(&mut self, event: &Event) -> Result<Option<String>> {
        self.store.input_digest(event)
    }

    /// Writes the event, its verdict and its changes in one transaction.
    ///
    /// INVARIANT: `record.event` is of the session that the judgement was begun for.
    pub fn record(mut self, record: &Record<'_>) -> Result<Recorded<'s>> {
        match self.write(record) {
            Ok(Some(id)) => {
                self.commit()?;
                self.store.checkpoint_if_long();
                Ok(Recorded::Stored(id))
            }
            Ok(None) => Ok(Recorded::Moved(Box::new(self))),
            Err(StoreError::Corrupt) => {
                self.rollback();
                self.store.replace()?;
                self.lock()?;
                (self.state, self.workflow) = self.store.states(record.session())?;
                Ok(Recorded::Moved(Box::new(self)))
            }
            Err(error) => Err(error),
        }
    }

    /// None where the state has moved; it is then the new one.
    fn write(&mut self, record: &Record<'_>) -> Result<Option<EventId>> {
        let writes = self.state.writes(record.changes);
        let workflow_writes = self.workflow.workflow_writes(record.changes);
        if !self.locked {
            self.lock()?;
            let has_moved = !writes.is_empty() && self.has_moved(record.session(), &self.state)?
                || !workflow_writes.is_empty() && self.has_moved(self.store.stage_key(), &self.workflow)?;
            if has_moved {
                (self.state, self.workflow) = self.store.states(record.session())?;
                return Ok(None);
            }
        }
        let session = match self.state.id {
            Some(id) => id,
            None => self.store.intern_session(record.session(), record.root, record.event.time)?,
        };
        let id = self.store.insert_event(session, record)?;
        self.store.insert_counted(session, id, &record.changes.counted, record.root)?;
        self.store.count_deeds(session, &record.changes.deeds, record.root, record.event.time)?;
        if !writes.is_empty() {
            self.store.write_state(session, self.state.revision, &writes)?;
        }
        if let (Some(workflow), false) = (self.workflow.id, workflow_writes.is_empty()) {
            self.store.write_state(workflow, self.workflow.revision, &workflow_writes)?;
        }
        Ok(Some(id))
    }

    /// Whether somebody changed what was judged by. What was not there may be by now.
    fn has_moved(&self, key: SessionKey<'_>, judged_by: &SessionState) -> Result<bool> {
        let id = match judged_by.id {
            Some(id) => Some(id),
            None => self.store.session_id(key)?,
        };
        Ok(id.map_or(Ok(0), |id| self.store.revision(id))? != judged_by.revision)
    }

    fn lock(&mut self) -> Result<()> {
        self.store.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.locked = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.store.connection.execute_batch("COMMIT")?;
        self.locked = false;
        Ok(())
    }

    /// SQLite may have rolled back by itself (a full disk): then there is nothing to do.
    fn rollback(&mut self) {
        if self.locked && !self.store.connection.is_autocommit() {
            let _ = self.store.connection.execute_batch("ROLLBACK");
        }
        self.locked = false;
    }
}

impl Drop for Judgement<'_> {
    fn drop(&mut self) {
        self.rollback();
    }
}

impl fmt::Debug for Judgement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judgement").field("state", &self.state).field("locked", &self.locked).finish_non_exhaustive()
    }
}
