//! Notices for people about the database: it was created, or replaced because it was corrupt.

use std::fmt;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreNotice {
    /// There was no database, so an empty one was created. The text of this notice says that the contents of an earlier
    /// database are lost; a caller that knows that there was no earlier database drops the notice.
    Created { path: PathBuf },
    /// The database was corrupt. It was renamed, and an empty one was created.
    ReplacedCorrupt { path: PathBuf, renamed_to: PathBuf },
}

impl fmt::Display for StoreNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created { path } => write!(
                f,
                "the journal `{}` is new: the earlier one is gone, with its history and, if there was one, the active workflow",
                path.display()
            ),
            Self::ReplacedCorrupt { path, renamed_to } => write!(
                f,
                "the journal `{}` was corrupt: it was renamed to `{}`, and a new one was created",
                path.display(),
                renamed_to.display()
            ),
        }
    }
}
