//! The exit codes of commands. `hook` follows the agent's protocol instead.

use std::process;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// The command succeeded.
    Done = 0,
    /// A rule, a test or a gate failed, or `doctor` found a problem.
    No = 1,
    /// The command line is wrong, a policy file is broken, or something is not trusted.
    Usage = 2,
    /// A pace rule interrupts a workflow.
    Interrupt = 3,
    /// A run of the loop reached one of its limits.
    Limit = 4,
    /// A person interrupted a run of the loop, or a gate, with Ctrl-C.
    Interrupted = 130,
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
