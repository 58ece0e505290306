//! How much of a text is looked at, and what is said where that is not all of it.

pub(crate) mod budget;
mod gap;

pub use gap::Gap;

/// Nesting of any kind, substitutions and compound commands together.
pub(crate) const MAX_NESTING: usize = 64;
/// Far more than a person or an agent writes into one call, files in here-documents included.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// Commands that one text may run: loops and functions make many of few.
pub(crate) const MAX_COMMANDS: usize = 2000;
