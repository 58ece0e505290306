//! File rules, which say which files must change together.
//!
//! A [`FileRule`] judges a set of [`Changes`] and returns a [`FileMatch`]: the changed files that trigger the rule, and
//! the files that are missing. This module does not know git, the file system or the clock. Other crates find the
//! changes, and store the demands and the answers to them.

mod changes;
mod file_match;
mod file_pattern;
mod file_rule;
mod possible_demand;
mod unmet_text;

#[cfg(test)]
mod tests;

pub use changes::{Change, Changes, Status, is_project_path};
pub use file_match::{FileMatch, TriggeringFile};
pub use file_pattern::FilePattern;
pub use file_rule::{AttributionMode, Baseline, ChangeScope, CommandAction, FileRule, FileRuleKind, Refire, RunFor};
pub use possible_demand::PossibleDemand;
pub use unmet_text::{Placeholders, escaped, fill_placeholders, list_missing, safety_hint};
