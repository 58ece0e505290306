//! Errors of the work database.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A later version of Linchpin wrote the database. Nothing was changed in it.
    #[error(
        "a newer Linchpin wrote `{}`: it has version {found}, and this Linchpin reads up to version {known}",
        .path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// Another process held the lock longer than the busy timeout.
    #[error("the database of tasks, memories and runs is locked by another process; try again")]
    Locked,
    #[error("the database of tasks, memories and runs cannot be used: {reason}")]
    Unavailable { reason: String },
}

impl From<rusqlite::Error> for WorkError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Self::Locked
            }
            _ => Self::Unavailable { reason: error.to_string() },
        }
    }
}

impl From<io::Error> for WorkError {
    fn from(error: io::Error) -> Self {
        Self::Unavailable { reason: error.to_string() }
    }
}
