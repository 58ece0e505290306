//! What happened to the database that a person should hear of, though nothing failed.

use std::fmt;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// There was no database; an empty one was made. Whether one was expected, the caller knows.
    Created { path: PathBuf },
    /// The database was corrupt; it was renamed and an empty one was made.
    SetAside { path: PathBuf, kept_as: PathBuf },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created { path } => write!(
                f,
                "the journal `{}` was made anew, and what it kept is gone: history, and the workflow that was active",
                path.display()
            ),
            Self::SetAside { path, kept_as } => write!(
                f,
                "the journal `{}` was corrupt: it is kept as `{}`, and a new one was begun",
                path.display(),
                kept_as.display()
            ),
        }
    }
}
