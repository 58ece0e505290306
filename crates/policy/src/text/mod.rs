//! The syntax of policy files: YAML with the span of every key and value, key tables, and diagnostics.
//!
//! This module is independent of any format; the key tables of rules, workflows and so on are next to their readers.

pub mod diagnostic;
pub mod digest;
pub mod fields;
pub mod frontmatter;
pub mod keys;
pub mod paragraphs;
pub mod scalar;
pub mod source;
pub mod yaml;
