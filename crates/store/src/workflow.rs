//! Where the workflow of a project stands; in a run of a loop, which hat is on.
//!
//! One workflow is active at a time, for every session there but those of a run. Its state is kept as a session's is, under a key of its own: variables,
//! and a revision that tells whether somebody else changed them. What they mean is not known here. What pace rules count in
//! a phase lies under the phase's own key ([`crate::Counted`]).

use rusqlite::{Transaction, TransactionBehavior};

use crate::session_key::WORKFLOW_AGENT;
use crate::{EventId, Note, Result, SessionKey, SessionState, Store};

impl Store {
    pub fn workflow(&self) -> Result<SessionState> {
        self.session(self.stage_key())
    }

    pub(crate) fn stage_key(&self) -> SessionKey<'_> {
        SessionKey { agent: WORKFLOW_AGENT, session: &self.stage }
    }

    /// Writes a note, and what it changes of the workflow, in one transaction. None where the state is no longer the one that
    /// was judged by: then nothing is written.
    pub fn note_on_workflow(&mut self, note: &Note<'_>, judged_by: &SessionState) -> Result<Option<EventId>> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let workflow = self.intern_session(self.stage_key(), note.root, note.time)?;
        let revision = self.revision(workflow)?;
        if revision != judged_by.revision {
            return Ok(None);
        }
        let id = self.insert_note(note)?;
        let writes = judged_by.workflow_writes(note.changes);
        self.write_state(workflow, revision, &writes)?;
        transaction.commit()?;
        self.checkpoint_if_long();
        Ok(Some(id))
    }
}
