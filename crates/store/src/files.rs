//! The files of a database: `state.db`, and SQLite's companion files `-wal` and `-shm`.
//!
//! New directories have mode 0700, the database 0600; SQLite gives its companion files the mode of the database. The
//! mode of an existing directory is not changed, as others may use it too.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::Result;

/// Appends `suffix` to the file name, as SQLite does for the names of the companion files.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

pub(crate) fn wal_path(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

pub(crate) fn shm_path(path: &Path) -> PathBuf {
    with_suffix(path, "-shm")
}

/// If there is no file, creates an empty one, which SQLite treats as an empty database, and returns true. Makes an
/// existing database private to its owner.
pub(crate) fn ensure_database(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => {
            make_private(path, &metadata);
            Ok(false)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                create_directory(directory)?;
            }
            create_private_file(path)
        }
        Err(error) => Err(error.into()),
    }
}

fn create_directory(directory: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    Ok(builder.create(directory)?)
}

/// Returns false if another process created the file first.
fn create_private_file(path: &Path) -> Result<bool> {
    match private_file_options().create_new(true).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Options to open a file for writing. A newly created file is private to its owner.
pub(crate) fn private_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Errors are ignored: a database whose mode cannot be changed is still used.
#[cfg(unix)]
fn make_private(path: &Path, metadata: &fs::Metadata) {
    use std::os::unix::fs::PermissionsExt;
    if metadata.permissions().mode() & 0o077 != 0 {
        for file in [path.to_owned(), wal_path(path), shm_path(path)] {
            let _ = fs::set_permissions(file, fs::Permissions::from_mode(0o600));
        }
    }
}

#[cfg(not(unix))]
fn make_private(_path: &Path, _metadata: &fs::Metadata) {}
