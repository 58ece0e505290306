//! The branch that is checked out where a command runs.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Branch {
    /// The one that was checked out before the script.
    AsBefore,
    Named(String),
    /// One of this name, or the one from before if this is the path of a file: `git checkout NAME`.
    NamedOrAsBefore(String),
    Unknown,
}
