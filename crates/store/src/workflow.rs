//! The state of a project's workflow or, in a run of a loop, of the current hat.
//!
//! At most one workflow is active at a time. All sessions of the project share it, except the sessions of a run. The
//! workflow's state is stored like that of a session, under a separate key: variables, and a revision that shows
//! whether another process changed them. This crate does not interpret the variables. Attempts that pace rules count in
//! a phase are stored under the phase's key ([`crate::CountedAttempt`]).

use rusqlite::{Transaction, TransactionBehavior};

use crate::session_key::WORKFLOW_AGENT;
use crate::{EntryId, Note, Result, SessionKey, Store, StoredState};

impl Store {
    pub fn workflow_state(&self) -> Result<StoredState> {
        self.session_state(self.workflow_key())
    }

    pub(crate) fn workflow_key(&self) -> SessionKey<'_> {
        SessionKey { agent: WORKFLOW_AGENT, session: &self.workflow_session }
    }

    /// Writes a note and its changes to the workflow in one transaction. Writes nothing and returns `None` if the
    /// workflow has changed since `last_read` was read.
    pub fn write_workflow_note(&mut self, note: &Note<'_>, last_read: &StoredState) -> Result<Option<EntryId>> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let workflow = self.intern_session(self.workflow_key(), note.root, note.time)?;
        let revision = self.revision(workflow)?;
        if revision != last_read.revision {
            return Ok(None);
        }
        let id = self.insert_note(note)?;
        let writes = last_read.workflow_writes(note.changes);
        self.write_state(workflow, revision, &writes)?;
        transaction.commit()?;
        self.checkpoint_long_wal();
        Ok(Some(id))
    }
}
