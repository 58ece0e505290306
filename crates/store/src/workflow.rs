//! Where the workflow of a project stands.
//!
//! One is active at a time, for every session there. Its state is kept as a session's is, under a key of its own: variables,
//! and a revision that tells whether somebody else changed them. What they mean is not known here. What pace rules count in
//! a phase lies under the phase's own key ([`crate::Counted`]).

use rusqlite::{Transaction, TransactionBehavior};

use crate::{EventId, Note, Result, SessionKey, SessionState, Store};

/// Under which the state of the workflow is kept.
pub const WORKFLOW: SessionKey<'static> = SessionKey { agent: AGENT, session: "" };

const AGENT: &str = "workflow";

/// Under which what is counted in a phase is kept.
pub fn phase_key(phase: &str) -> SessionKey<'_> {
    SessionKey { agent: AGENT, session: phase }
}

impl Store {
    pub fn workflow(&self) -> Result<SessionState> {
        self.session(WORKFLOW)
    }

    /// Writes a note, and what it changes of the workflow, in one transaction. None where the state is no longer the one that
    /// was judged by: then nothing is written.
    pub fn note_on_workflow(&mut self, note: &Note<'_>, judged_by: &SessionState) -> Result<Option<EventId>> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let workflow = self.intern_session(WORKFLOW, note.root, note.time)?;
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
