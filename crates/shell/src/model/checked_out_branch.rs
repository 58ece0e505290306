//! The branch that is checked out when a command runs.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckedOutBranch {
    /// The branch that was checked out before the script started.
    AsBefore,
    Named(String),
    /// `git checkout NAME`: the branch of this name. If `NAME` is the path of a file, the branch that was checked out
    /// before the script started stays checked out.
    NamedOrAsBefore(String),
    Unknown,
}
