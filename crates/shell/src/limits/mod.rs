//! Limits on the size of a script, and the gaps that are reported when one is exceeded.

pub(crate) mod budget;
mod gap;

pub use gap::Gap;

/// Nesting of any kind: substitutions and compound commands together.
pub(crate) const MAX_NESTING: usize = 64;
/// Far more than a person or an agent writes in one call, including files in heredocs.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// Commands that one script may run. Loops and functions turn a few commands into many.
pub(crate) const MAX_COMMANDS: usize = 2000;
