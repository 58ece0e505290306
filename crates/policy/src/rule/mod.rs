//! One rule, from its text to a checked value: the keys of a rule, a reader for each kind of rule, and the rule as it is
//! written down.
//!
//! In a Markdown file the fields stand between `---` lines and the reason below them; in a library or a list the rule is a
//! mapping, and the reason one more field of it. Nothing here knows other rules: what a name means, and which rules are in force,
//! is for others.

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
