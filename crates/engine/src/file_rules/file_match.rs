//! The result of judging changes by a file rule.

use std::collections::HashSet;

use super::Status;
use path::pattern::Captures;

/// The changed files that trigger a rule, and what is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMatch {
    /// Triggering files in byte order of their paths.
    pub triggers: Vec<TriggeringFile>,
    /// Changed files that were expected, in byte order.
    pub matched: Vec<String>,
    /// Patterns of `safety` that satisfy all triggers if a changed file matches one of them.
    pub safety: Vec<String>,
    /// Changed files match `safety`, so nothing is missing.
    pub is_safe: bool,
}

/// A changed file that triggers the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggeringFile {
    pub path: String,
    pub status: Status,
    pub captures: Captures,
    /// Expected paths or patterns that did not change. Empty if the change itself is the trigger.
    pub missing: Vec<String>,
    /// Paths that result from `safety`. A change of any of them satisfies this trigger, but no other.
    pub safety: Vec<String>,
}

impl FileMatch {
    pub fn is_unmet(&self) -> bool {
        !self.triggers.is_empty() && !self.is_safe
    }

    /// Pairs of a trigger and a missing file.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.triggers
            .iter()
            .flat_map(|trigger| trigger.missing.iter().map(|missing| (trigger.path.as_str(), missing.as_str())))
    }

    /// Paths of the triggers.
    pub fn trigger_files(&self) -> impl Iterator<Item = &str> {
        self.triggers.iter().map(|trigger| trigger.path.as_str())
    }

    /// All missing files without duplicates, in order of the first trigger that lacks each.
    pub fn expected_files(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        self.pairs().map(|(_, missing)| missing).filter(|missing| known.insert(*missing)).collect()
    }

    /// Removes triggers that are answered.
    #[must_use]
    pub fn without_answered(mut self, is_answered: impl Fn(&TriggeringFile) -> bool) -> Self {
        self.triggers.retain(|trigger| !is_answered(trigger));
        self
    }
}
