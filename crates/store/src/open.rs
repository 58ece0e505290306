//! Opening a database, whatever state it is in: missing, of an earlier version, or corrupt.

use std::path::Path;

use rusqlite::OpenFlags;

use crate::{Options, Result, Store, StoreError, aside, schema};

impl Store {
    /// Opens the database at `path`, an absolute path, to read and write.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        match Self::open_or_create(path, options) {
            Err(StoreError::Corrupt) => aside::replace(path, options, None),
            opened => opened,
        }
    }

    /// Opens a database that exists, to read only; makes and changes nothing but SQLite's own `-shm` file. Only one of an
    /// earlier version is brought up to date first, or it could not be read.
    pub fn open_existing_read(path: &Path, options: Options) -> Result<Self> {
        let missing = || StoreError::Missing { path: path.to_owned() };
        if !path.exists() {
            return Err(missing());
        }
        let store = Self::connect(path, options, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        match schema::version_of(&store.connection)? {
            0 => Err(missing()),
            found if found == schema::version() => Ok(store),
            _ => {
                drop(store);
                drop(Self::open_or_create(path, options)?);
                Self::connect(path, options, OpenFlags::SQLITE_OPEN_READ_ONLY)
            }
        }
    }

    /// Whether the database could be written to now: takes the lock for writing, and gives it back.
    pub fn try_lock(path: &Path, options: Options) -> Result<()> {
        let store = Self::connect(path, options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // SQLite opens a file that it may not write for reading, and then gives the lock, too.
        if store.connection.is_readonly(rusqlite::MAIN_DB)? {
            return Err(StoreError::ReadOnly);
        }
        Ok(store.connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")?)
    }
}
