//! Replacing a corrupt database: it is renamed, with its companions, and an empty one takes its place.
//!
//! INVARIANT: a database is renamed only by the holder of the lock file, and only if the one at the path is still the
//! one that was found corrupt; otherwise two processes that find it so at once would set aside each other's new one.
//! The log goes first: SQLite deletes a log that it finds beside an empty database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::Connection;

use crate::{Notice, Options, Result, Store, StoreError, busy, files};

/// `seen` is the connection over which the corruption was met, where opening alone does not show it.
pub(crate) fn replace(path: &Path, options: Options, seen: Option<&Connection>) -> Result<Store> {
    let _lock = lock(path, options)?;
    let somebody_else_did = match seen {
        Some(connection) => has_moved(connection),
        None => true,
    };
    if somebody_else_did {
        match Store::open_or_create(path, options) {
            Err(StoreError::Corrupt) => {}
            opened => return opened,
        }
    }
    let kept_as = rename(path, options.now)?;
    let mut store = Store::open_or_create(path, options)?;
    store.notices = vec![Notice::SetAside { path: path.to_owned(), kept_as }];
    Ok(store)
}

/// The lock ends with the file, at the latest with the process. The empty file stays: deleting it would make two locks
/// of one.
fn lock(path: &Path, options: Options) -> Result<fs::File> {
    let file = files::private().create(true).truncate(false).open(files::with_suffix(path, ".lock"))?;
    let since = Instant::now();
    let mut attempts = 0;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if since.elapsed() < options.busy => {
                std::thread::sleep(busy::pause(attempts));
                attempts += 1;
            }
            Err(fs::TryLockError::WouldBlock) => return Err(StoreError::Locked),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}

fn rename(path: &Path, now: i64) -> Result<PathBuf> {
    let kept_as = free_name(path, now);
    for companion in ["-wal", "-shm"] {
        match fs::rename(files::with_suffix(path, companion), files::with_suffix(&kept_as, companion)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    fs::rename(path, &kept_as)?;
    Ok(kept_as)
}

fn free_name(path: &Path, now: i64) -> PathBuf {
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
fn has_moved(connection: &Connection) -> bool {
    let mut moved = 0;
    let asked = connection.file_control(rusqlite::DEFAULT_NAME, rusqlite::FileControl::HasMoved(&mut moved));
    asked.is_ok() && moved != 0
}

/// Elsewhere an open file cannot be renamed.
#[cfg(not(unix))]
fn has_moved(_connection: &Connection) -> bool {
    false
}
