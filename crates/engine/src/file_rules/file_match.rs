//! The result of judging changes by a file rule.

use std::collections::HashSet;

use super::Status;
use path::pattern::Captures;

/// The changed files that trigger a rule, and the files that are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMatch {
    /// The triggering files, in byte order of their paths.
    pub triggers: Vec<TriggeringFile>,
    /// The changed files that a trigger expects or that match `safety`, in byte order.
    pub satisfied_by: Vec<String>,
    /// The patterns of `safety` that are not specific to a trigger: a changed file that matches one of these patterns
    /// satisfies all triggers.
    pub safety: Vec<String>,
    /// True if changed files that match `safety` satisfy all triggers, so that nothing is missing.
    pub is_satisfied_by_safety: bool,
}

/// A changed file that triggers the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggeringFile {
    pub path: String,
    pub status: Status,
    pub captures: Captures,
    /// The expected paths that did not change, and the expected patterns that no changed file matches. Empty for rules
    /// that expect no particular files.
    pub missing_files: Vec<String>,
    /// The paths and patterns of `safety` with this trigger's variables filled in. A changed file that matches one of
    /// them satisfies only this trigger.
    pub safety: Vec<String>,
}

impl FileMatch {
    pub fn is_unmet(&self) -> bool {
        !self.triggers.is_empty() && !self.is_satisfied_by_safety
    }

    /// All pairs of a trigger and a file that is missing for this trigger.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.triggers
            .iter()
            .flat_map(|trigger| trigger.missing_files.iter().map(|missing| (trigger.path.as_str(), missing.as_str())))
    }

    /// The paths of the triggers.
    pub fn trigger_files(&self) -> impl Iterator<Item = &str> {
        self.triggers.iter().map(|trigger| trigger.path.as_str())
    }

    /// All missing files without duplicates, in the order of the triggers.
    pub fn missing_files(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        self.pairs().map(|(_, missing)| missing).filter(|missing| known.insert(*missing)).collect()
    }

    /// Removes the triggers for which `is_answered` returns true.
    #[must_use]
    pub fn without_answered(mut self, is_answered: impl Fn(&TriggeringFile) -> bool) -> Self {
        self.triggers.retain(|trigger| !is_answered(trigger));
        self
    }
}
