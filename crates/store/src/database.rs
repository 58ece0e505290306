//! The database connection, configured for processes that run for two milliseconds.
//!
//! - Write-ahead log (WAL) and `synchronous = NORMAL`: a commit does not wait for the disk and survives a crash of any
//!   process. A power failure loses at most the last commits.
//! - No checkpoint on close and none by page count (`NO_CKPT_ON_CLOSE`, `wal_autocheckpoint = 0`); `checkpoint.rs`
//!   decides when.
//! - Opening reads only the schema version: the file itself stores the journal mode.
//!
//! The page size is in `schema.rs`. `mmap_size` made no measurable difference, and opening an empty journal takes as
//! long as opening one with a million events. Most of the time is not configurable: loading SQLite's code, and building
//! the shared index of the WAL, which a process has to do if no other one has the database open.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::busy::{self, BusyWait};
use crate::digest_key::DigestKey;
use crate::{Result, StoreError, StoreNotice, files, schema, session_key};

#[derive(Debug, Clone, Copy)]
pub struct StoreOptions {
    /// How long to wait for other processes' locks before [`StoreError::Locked`].
    pub busy_timeout: Duration,
    /// The current time in milliseconds since 1970; part of the name that a corrupt database is renamed to.
    pub now: i64,
    /// The run of a loop that the caller belongs to. If it is set, the state of the run's hat is used instead of the
    /// state of the project's workflow.
    pub run: Option<u64>,
}

/// An open database.
///
/// Opening creates a missing database, migrates an older one, and renames and replaces a corrupt one; creating and
/// replacing leave a [`StoreNotice`]. Only [`Store::prune`] deletes journal entries.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) options: StoreOptions,
    pub(crate) busy_wait: BusyWait,
    pub(crate) digest_key: Option<DigestKey>,
    pub(crate) notices: Vec<StoreNotice>,
    /// The session name under which the state of the run's hat or, outside of runs, of the workflow is stored.
    pub(crate) workflow_session: String,
}

impl Store {
    pub(crate) fn open_or_create(path: &Path, options: StoreOptions) -> Result<Self> {
        let created = files::ensure_database(path)?;
        let mut store = Self::connect(path, options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        store.migrate()?;
        if created {
            store.notices.push(StoreNotice::Created { path: path.to_owned() });
        }
        Ok(store)
    }

    pub(crate) fn connect(path: &Path, options: StoreOptions, access: OpenFlags) -> Result<Self> {
        let mut connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let busy_wait = BusyWait::default();
        busy_wait.install(&mut connection, options.busy_timeout)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // The file may come with a cloned repository: its triggers and views must not run.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection
            .execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY")?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            options,
            busy_wait,
            digest_key: None,
            notices: Vec::new(),
            workflow_session: session_key::workflow_session_name(options.run),
        })
    }

    /// Retries the migration while the database is locked. Switching a new file to WAL is the one step where SQLite may
    /// return "busy" without calling the busy handler (two processes that wait for each other).
    fn migrate(&mut self) -> Result<()> {
        let started = Instant::now();
        let mut attempts = 0;
        loop {
            match schema::migrate(&mut self.connection) {
                Err(StoreError::Locked) if started.elapsed() < self.options.busy_timeout => {
                    std::thread::sleep(busy::retry_delay(attempts));
                    attempts += 1;
                }
                done => return done,
            }
        }
    }

    /// Returns the notices that were left since the last call of this function.
    pub fn take_notices(&mut self) -> Vec<StoreNotice> {
        std::mem::take(&mut self.notices)
    }

    /// Limits the size of the database, to simulate a full disk in tests.
    #[doc(hidden)]
    pub fn limit_pages(&self, pages: u32) -> Result<()> {
        Ok(self.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
    }
}
