//! File rules: what must change together.
//!
//! A [`FileRule`] and a set of [`Changes`] give a [`FileMatch`]: which changed files the rule is about, and what each of
//! them still lacks. That is all that is decided here. How changes are found, what was asked for before and what is done
//! about it belong to others; nothing here knows git, files or the clock.

mod changes;
mod file_match;
mod file_pattern;
mod file_rule;
mod unmet_file_rule;
mod wording;

#[cfg(test)]
mod tests;

pub use changes::{Change, Changes, Status, is_project_path};
pub use file_match::{FileMatch, TriggeringFile};
pub use file_pattern::FilePattern;
pub use file_rule::{AttributionMode, Baseline, ChangeScope, CommandAction, FileRule, FileRuleKind, Refire, RunFor};
pub use unmet_file_rule::UnmetFileRule;
pub use wording::{Placeholders, filled, how_answered, listed, shown};
