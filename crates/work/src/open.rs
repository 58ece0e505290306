//! Opens and migrates the database. The tables are defined in `memories.rs`, `runs.rs` and `tasks.rs`.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::{Result, WorkDatabase, WorkError, memories, runs, tasks};

/// The migrations. `PRAGMA user_version` counts those that were applied. A released migration is never edited.
const MIGRATIONS: &[&[&str]] = &[&[memories::TABLES, runs::TABLES, tasks::TABLES]];

/// Ample time: other processes hold the lock for milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

impl WorkDatabase {
    /// Opens the database at `path`, and creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        ensure_private_file(path)?;
        let mut work = Self::connect(path)?;
        work.migrate_with_retry(path)?;
        Ok(work)
    }

    /// Opens the database if it exists.
    pub fn open_existing(path: &Path) -> Result<Option<Self>> {
        if path.exists() { Self::open(path).map(Some) } else { Ok(None) }
    }

    fn connect(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        // After a power failure, a run must find everything it had committed.
        connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY")?;
        Ok(Self { connection })
    }

    /// Retries while the database is locked: if two processes create the same database, SQLite may return "busy" at
    /// once.
    fn migrate_with_retry(&mut self, path: &Path) -> Result<()> {
        let started = Instant::now();
        loop {
            match self.migrate(path) {
                Err(WorkError::Locked) if started.elapsed() < BUSY_TIMEOUT => std::thread::sleep(RETRY_INTERVAL),
                done => return done,
            }
        }
    }

    fn migrate(&mut self, path: &Path) -> Result<()> {
        let version_of = |connection: &Connection| connection.query_row("PRAGMA user_version", [], |row| row.get(0));
        let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        let found: i64 = version_of(&self.connection)?;
        if found == known {
            return Ok(());
        }
        if found > known {
            return Err(WorkError::Newer { path: path.to_owned(), found, known });
        }
        self.connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
        let found: i64 = version_of(&transaction)?;
        for tables in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
            for table in *tables {
                transaction.execute_batch(table)?;
            }
        }
        transaction.pragma_update(None, "user_version", known)?;
        Ok(transaction.commit()?)
    }
}

/// If there is no file, creates an empty one that only its owner can read. SQLite treats it as an empty database.
fn ensure_private_file(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let mut directory_builder = DirBuilder::new();
    directory_builder.recursive(true);
    let mut file_options = OpenOptions::new();
    file_options.write(true).create_new(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut directory_builder, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut file_options, 0o600);
    }
    if let Some(directory) = path.parent() {
        directory_builder.create(directory)?;
    }
    match file_options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}
