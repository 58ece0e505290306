//! The connection to a database, with the settings that fit a process of two milliseconds.
//!
//! - WAL and `synchronous = NORMAL`: a commit waits for no disk, survives the end of any process, and a power cut
//!   costs at most the last commits.
//! - No checkpoint on close and none by page count (`NO_CKPT_ON_CLOSE`, `wal_autocheckpoint = 0`): the rule is
//!   in `checkpoint.rs`.
//! - The version is read on every open, and nothing else: the journal mode is kept in the file.
//!
//! The page size is in `schema.rs`. `mmap_size` made no difference that could be measured, nor did a million events in
//! the journal against none. Most of the time goes to what cannot be set: touching SQLite's code for the first time, and
//! making and filling the shared index of the log, which every process that finds itself alone does anew.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::busy::{self, Patience};
use crate::digest_key::DigestKey;
use crate::{Notice, Result, StoreError, files, schema, session_key};

#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How long to wait for other processes before [`StoreError::Locked`].
    pub busy: Duration,
    /// Now, in milliseconds since 1970: part of the name under which a corrupt database is kept.
    pub now: i64,
    /// The run of a loop whose hat stands where otherwise the workflow does.
    pub run: Option<u64>,
}

/// An open database.
///
/// A missing one is made, an older one brought up to date, a corrupt one set aside and replaced, each with a
/// [`Notice`]. Nothing is ever deleted but by [`Store::prune`].
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    pub(crate) patience: Patience,
    pub(crate) digest_key: Option<DigestKey>,
    pub(crate) notices: Vec<Notice>,
    /// The name under which the workflow, or else the run, has its state.
    pub(crate) stage: String,
}

impl Store {
    pub(crate) fn open_or_create(path: &Path, options: Options) -> Result<Self> {
        let created = files::ensure_database(path)?;
        let mut store = Self::connect(path, options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        store.migrate()?;
        if created {
            store.notices.push(Notice::Created { path: path.to_owned() });
        }
        Ok(store)
    }

    pub(crate) fn connect(path: &Path, options: Options, access: OpenFlags) -> Result<Self> {
        let mut connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let patience = Patience::default();
        patience.install(&mut connection, options.busy)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // The file may come with a repository: what it brings along must not act.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection
            .execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY")?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            options,
            patience,
            digest_key: None,
            notices: Vec::new(),
            stage: session_key::stage_name(options.run),
        })
    }

    /// Turning a new file into a WAL database is the one step where SQLite may answer "busy" without asking its busy
    /// handler (two processes that each wait for the other), so it is repeated here.
    fn migrate(&mut self) -> Result<()> {
        let since = Instant::now();
        let mut attempts = 0;
        loop {
            match schema::migrate(&mut self.connection) {
                Err(StoreError::Locked) if since.elapsed() < self.options.busy => {
                    std::thread::sleep(busy::pause(attempts));
                    attempts += 1;
                }
                done => return done,
            }
        }
    }

    /// What happened to the database since the last call that a person should hear of.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Lets the database grow to so many pages and no further, as a full disk would. For tests.
    #[doc(hidden)]
    pub fn limit_pages(&self, pages: u32) -> Result<()> {
        Ok(self.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
    }
}
