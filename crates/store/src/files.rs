//! The files of a database: `state.db`, and SQLite's `-wal` and `-shm` beside it.
//!
//! Folders that are made here are for their owner only (0700), and so is the database (0600); SQLite gives its two
//! companions the mode of the database. A folder that exists keeps its mode: it is not ours.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::Result;

/// `path` with `suffix` at its end, as SQLite names the companions of a database.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

pub(crate) fn wal(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

pub(crate) fn shm(path: &Path) -> PathBuf {
    with_suffix(path, "-shm")
}

/// Makes an empty file, which to SQLite is an empty database, and says whether it did. An existing one that others
/// may read is closed to them.
pub(crate) fn ensure_database(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => {
            close_to_others(path, &metadata);
            Ok(false)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                create_folder(folder)?;
            }
            create_private(path)
        }
        Err(error) => Err(error.into()),
    }
}

fn create_folder(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    Ok(builder.create(folder)?)
}

/// False where another process was faster.
fn create_private(path: &Path) -> Result<bool> {
    match private().create_new(true).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Options to open a file for writing that, if it is made, only its owner may read.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Best effort: a database that cannot be closed to others can still be used.
#[cfg(unix)]
fn close_to_others(path: &Path, metadata: &fs::Metadata) {
    use std::os::unix::fs::PermissionsExt;
    if metadata.permissions().mode() & 0o077 != 0 {
        for file in [path.to_owned(), wal(path), shm(path)] {
            let _ = fs::set_permissions(file, fs::Permissions::from_mode(0o600));
        }
    }
}

#[cfg(not(unix))]
fn close_to_others(_path: &Path, _metadata: &fs::Metadata) {}
