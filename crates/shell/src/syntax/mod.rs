//! Parses the text of a script: the guarded parser, words and their expansions, quotes and escapes.

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
