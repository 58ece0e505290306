//! Opens the journal of a project for commands.

use std::time::Duration;

use guard::Project;
use store::{Note, Store, StoreError, StoreOptions};

use super::Context;
use crate::problem::Problem;

/// Opens the journal for reading. Fails if the project has none yet.
pub fn open(project: &Project, context: &Context) -> Result<Store, Problem> {
    let options = StoreOptions { busy_timeout: Duration::from_secs(2), now: super::now(), run: None };
    Store::open_read_only(&project.journal_path(&context.environment), options).map_err(|error| match error {
        StoreError::Missing { .. } => {
            Problem::new("NoJournal", format!("there is no journal yet for `{}`", project.root.display())).help(
                "the first event of an agent's hook creates it; `linchpin doctor` shows whether a hook is installed",
            )
        }
        other => other.into(),
    })
}

/// Fails if the journal has no session with this id.
pub fn require_session(session: &str, store: &Store) -> Result<(), Problem> {
    if store.latest_session(Some(session))?.is_some() { Ok(()) } else { Err(unknown_session(session)) }
}

pub fn unknown_session(session: &str) -> Problem {
    Problem::new("NotFound", format!("the journal has no session `{session}`"))
        .help("`linchpin log --json` shows the session of each event")
}

/// Records what a person or an agent did with a command.
pub fn write_note(note: &Note<'_>, project: &Project, context: &Context) -> Result<(), Problem> {
    let options = StoreOptions { busy_timeout: Duration::from_secs(5), now: note.time, run: None };
    Store::open(&project.journal_path(&context.environment), options)?.write_note(note)?;
    Ok(())
}
