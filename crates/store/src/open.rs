//! Opens a database that may be missing, of an earlier version, or corrupt.

use std::path::Path;

use rusqlite::OpenFlags;

use crate::{Result, Store, StoreError, StoreOptions, replace_corrupt, schema};

impl Store {
    /// Opens the database for reading and writing. `path` is absolute.
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self> {
        match Self::open_or_create(path, options) {
            Err(StoreError::Corrupt) => replace_corrupt::replace(path, options, None),
            opened => opened,
        }
    }

    /// Opens an existing database read-only. This writes nothing except SQLite's own `-shm` file, unless the database
    /// has an earlier version: then it is migrated first, because this code could not read it otherwise.
    pub fn open_read_only(path: &Path, options: StoreOptions) -> Result<Self> {
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

    /// Fails if the database cannot be written now. Takes the write lock and releases it.
    pub fn check_writable(path: &Path, options: StoreOptions) -> Result<()> {
        let store = Self::connect(path, options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // SQLite opens a file without write permission read-only, and still grants the lock.
        if store.connection.is_readonly(rusqlite::MAIN_DB)? {
            return Err(StoreError::ReadOnly);
        }
        Ok(store.connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")?)
    }
}
