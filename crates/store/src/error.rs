//! Errors of the store.
//!
//! The variants are the failures that the failure policy distinguishes. The caller decides how each one is handled.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no journal at `{}`", .path.display())]
    Missing { path: PathBuf },
    /// A later version of Linchpin wrote the database. Nothing was changed in it.
    #[error(
        "a newer Linchpin wrote the journal: it has version {found}, and this Linchpin reads up to version {known}"
    )]
    Newer { found: i64, known: i64 },
    /// Another process held the lock longer than the busy timeout.
    #[error("the journal is locked by another process")]
    Locked,
    #[error("the journal cannot be written: it is read-only")]
    ReadOnly,
    #[error("the journal cannot be written: the disk is full")]
    Full,
    #[error("the journal is corrupt")]
    Corrupt,
    /// The database cannot be opened or created, or an I/O error occurred.
    #[error("the journal cannot be used: {reason}")]
    Unavailable { reason: String },
    /// An SQL error without an external cause: a bug in this crate.
    #[error("an SQL statement on the journal failed")]
    Sql(#[source] rusqlite::Error),
}

impl StoreError {
    /// The stable name of the variant, for `--json` and tests.
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
