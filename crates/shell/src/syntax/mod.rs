//! From text to syntax: the parser behind its limits, words and their expansions, quotes and escapes.

pub(crate) mod arithmetic;
pub(crate) mod bash_differences;
pub(crate) mod bounded_parse;
pub(crate) mod brace;
pub(crate) mod escape;
pub(crate) mod extent;
pub(crate) mod hidden;
mod nesting;
mod parentheses;
pub(crate) mod quoting;
mod rejection;
mod select;
pub(crate) mod word_scan;
