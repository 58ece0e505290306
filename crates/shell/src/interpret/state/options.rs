//! Shell options, and how the shell treats a failing command.

/// Shell options that are on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// `set -a`: exports every variable that is set.
    pub(super) allexport: bool,
    /// `shopt -s lastpipe`: runs the last command of a pipeline in the shell itself.
    pub(crate) lastpipe: bool,
    /// `shopt -s dotglob`: globs match hidden files.
    pub(crate) dotglob: bool,
}

/// How a failure of the current command is treated.
#[derive(Clone, Copy, Default)]
pub(crate) struct FailureHandling {
    /// `set -e`: a failure ends the shell.
    pub(super) errexit: bool,
    /// The command is in a condition (`if`, `&&`), in which `set -e` does not apply.
    pub(crate) in_condition: bool,
    /// `!` negates the command's exit status.
    pub(crate) is_negated: bool,
}
