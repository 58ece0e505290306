//! Parses the text of scripts with limits on time and stack, scans words for quotes and expansions, and decodes
//! escapes.

pub(crate) mod arithmetic;
pub(crate) mod bash_differences;
pub(crate) mod bounded_parse;
pub(crate) mod brace;
pub(crate) mod closing;
mod double_parentheses;
pub(crate) mod escape;
pub(crate) mod hidden_expansions;
mod nesting;
mod parse_errors;
pub(crate) mod quoting;
mod select;
pub(crate) mod word_scan;
