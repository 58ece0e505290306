//! Renames a corrupt database with its companion files (`-wal`, `-shm`), and creates an empty one at its path.
//!
//! INVARIANT: a database is renamed only by the holder of the lock file, and only if the file at the path is still the
//! corrupt one. Otherwise two processes that find the corruption at the same time could rename each other's new
//! database. The WAL is renamed before the database, because SQLite deletes a WAL next to an empty database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::Connection;

use crate::{Result, Store, StoreError, StoreNotice, StoreOptions, busy, files};

/// `corrupt`: the open connection on which the corruption was found; none if it was found on opening.
pub(crate) fn replace(path: &Path, options: StoreOptions, corrupt: Option<&Connection>) -> Result<Store> {
    let _lock = lock(path, options)?;
    let may_be_replaced_already = match corrupt {
        Some(connection) => was_renamed(connection),
        // Another process may have replaced it before this one got the lock.
        None => true,
    };
    if may_be_replaced_already {
        match Store::open_or_create(path, options) {
            Err(StoreError::Corrupt) => {}
            opened => return opened,
        }
    }
    let new_path = rename_corrupt(path, options.now)?;
    let mut store = Store::open_or_create(path, options)?;
    store.notices = vec![StoreNotice::ReplacedCorrupt { path: path.to_owned(), renamed_to: new_path }];
    Ok(store)
}

/// Locks the lock file until the returned file is dropped. The lock file is never deleted: otherwise one process could
/// hold a lock on the deleted file while another one locks a new file.
fn lock(path: &Path, options: StoreOptions) -> Result<fs::File> {
    let file = files::private_file_options().create(true).truncate(false).open(files::with_suffix(path, ".lock"))?;
    let started = Instant::now();
    let mut attempts = 0;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if started.elapsed() < options.busy_timeout => {
                std::thread::sleep(busy::retry_delay(attempts));
                attempts += 1;
            }
            Err(fs::TryLockError::WouldBlock) => return Err(StoreError::Locked),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}

fn rename_corrupt(path: &Path, now: i64) -> Result<PathBuf> {
    let new_path = unused_name(path, now);
    for companion in ["-wal", "-shm"] {
        match fs::rename(files::with_suffix(path, companion), files::with_suffix(&new_path, companion)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    fs::rename(path, &new_path)?;
    Ok(new_path)
}

fn unused_name(path: &Path, now: i64) -> PathBuf {
    let first = files::with_suffix(path, &format!(".corrupt-{now}"));
    if !first.exists() {
        return first;
    }
    let mut number: u32 = 2;
    loop {
        let name = files::with_suffix(path, &format!(".corrupt-{now}-{number}"));
        if !name.exists() {
            return name;
        }
        number += 1;
    }
}

#[cfg(unix)]
fn was_renamed(connection: &Connection) -> bool {
    let mut was_renamed = 0;
    let result = connection.file_control(rusqlite::DEFAULT_NAME, rusqlite::FileControl::HasMoved(&mut was_renamed));
    result.is_ok() && was_renamed != 0
}

/// Other systems do not allow renaming an open file.
#[cfg(not(unix))]
fn was_renamed(_connection: &Connection) -> bool {
    false
}
