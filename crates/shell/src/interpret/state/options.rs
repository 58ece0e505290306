//! How the shell is set, and what comes of a command that fails.

/// Options of the shell that are on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// `set -a`: programs get to see whatever is set.
    pub(super) exports_all: bool,
    /// `shopt -s lastpipe`: the last command of a pipeline runs in the shell itself.
    pub(crate) lastpipe: bool,
    /// `shopt -s dotglob`: patterns match what is hidden.
    pub(crate) dotglob: bool,
}

/// What comes of a command that fails.
#[derive(Clone, Copy, Default)]
pub(crate) struct Failing {
    /// `set -e`: nothing that follows runs.
    pub(super) ends: bool,
    /// Somebody asks whether it works: `if`, `&&`. Then `set -e` does not count.
    pub(crate) is_tested: bool,
    /// `!`: it is taken to have worked.
    pub(crate) is_negated: bool,
}
