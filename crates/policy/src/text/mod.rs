//! The text of policy files: YAML with the place of every key and value, tables of keys, and what is wrong where.
//!
//! Knows no format: which keys a rule or a workflow has stands beside its own reader.

pub mod diagnostic;
pub mod digest;
pub mod fields;
pub mod frontmatter;
pub mod keys;
pub mod scalar;
pub mod source;
pub mod yaml;
