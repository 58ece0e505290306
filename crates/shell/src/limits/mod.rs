//! Limits on the size and cost of a script, and gaps: the reasons why a script is not fully known.

pub(crate) mod budget;
mod gap;

pub use gap::Gap;

/// The maximum nesting of substitutions and compound commands, counted together.
pub(crate) const MAX_NESTING: usize = 64;
/// The maximum length of a script. A script that a person or an agent writes is far shorter, even with files in
/// heredocs.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// The maximum number of commands that a script runs. Loops and functions turn a few commands into many.
pub(crate) const MAX_COMMANDS: usize = 2000;
