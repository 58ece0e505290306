//! How a command ended, as scripts see it. `hook` follows the agent's own protocol instead.

use std::process;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    Done = 0,
    /// A rule, a test or a gate says no; `doctor` found something.
    No = 1,
    /// The command line is wrong, a policy file is broken, or something is not trusted.
    Usage = 2,
    /// A pace rule interrupts a workflow.
    Interrupt = 3,
    /// A run of the loop reached one of its limits.
    Limit = 4,
    /// Somebody interrupted a run of the loop, or a gate, with Ctrl-C.
    Interrupted = 130,
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
