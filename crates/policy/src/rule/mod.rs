//! Reads a single rule: the keys of rules, a reader for each kind of rule, and rule definitions.
//!
//! In a Markdown file the fields are between `---` lines, and the reason is below them. In a library or list a rule is
//! a mapping, and `reason` is one of its keys. This module must not depend on other rules: it does not resolve names,
//! and does not decide which rules are in force.

mod command_action;
mod command_matcher;
pub mod definition;
mod events;
pub mod file_rule;
mod keys;
mod kind;
mod lints;
mod pace_rule;
mod placeholders;
pub mod reader;
mod tool_rule;

pub use keys::{ENTRY, FRONTMATTER};
