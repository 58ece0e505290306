//! Why the store could not do what it was asked.
//!
//! The kinds are those that the failure policy tells apart; what to do about each is not decided here.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no journal at `{}`", .path.display())]
    Missing { path: PathBuf },
    /// Written by a later Linchpin. Nothing in it was changed.
    #[error("the journal has version {found}, this Linchpin knows up to {known}")]
    Newer { found: i64, known: i64 },
    /// Another process kept the lock for longer than this one was told to wait.
    #[error("the journal is locked by another process")]
    Locked,
    #[error("the journal cannot be written: it is read-only")]
    ReadOnly,
    #[error("the journal cannot be written: the disk is full")]
    Full,
    #[error("the journal is corrupt")]
    Corrupt,
    /// It cannot be opened or created, or the disk failed.
    #[error("the journal cannot be used: {reason}")]
    Unavailable { reason: String },
    /// What SQLite refuses and no outside cause explains: a fault of this crate.
    #[error("the journal failed")]
    Sql(#[source] rusqlite::Error),
}

impl StoreError {
    /// A stable name of the kind, for `--json` and tests.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "missing",
            Self::Newer { .. } => "newer",
            Self::Locked => "locked",
            Self::ReadOnly => "read_only",
            Self::Full => "full",
            Self::Corrupt => "corrupt",
            Self::Unavailable { .. } => "unavailable",
            Self::Sql(_) => "sql",
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Self::Locked
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt,
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory) => {
                Self::Unavailable { reason: error.to_string() }
            }
            _ => Self::Sql(error),
        }
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Unavailable { reason: error.to_string() },
        }
    }
}
