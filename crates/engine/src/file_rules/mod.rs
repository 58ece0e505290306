//! File rules: what must change together.
//!
//! A [`FileRule`] and a set of [`Changes`] give a [`FileMatch`]: which changed files the rule is about, and what each of
//! them still lacks. That is all that is decided here. How changes are found, what was asked for before and what is done
//! about it belong to others; nothing here knows git, files or the clock.

mod changes;
mod demand_ref;
mod file_match;
mod file_pattern;
mod file_rule;
mod wording;

#[cfg(test)]
mod tests;

pub use changes::{Change, Changes, Status, is_project_path};
pub use demand_ref::DemandRef;
pub use file_match::{FileMatch, Trigger};
pub use file_pattern::FilePattern;
pub use file_rule::{Attribute, Baseline, CommandAction, FileMode, FileRule, Reach, Refire, RunFor};
pub use wording::{Placeholders, filled, how_answered, listed, shown};
