//! What a file rule makes of a set of changes.

use std::collections::HashSet;

use super::Status;
use path::pattern::Captures;

/// The changed files that a rule is about, and what they lack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMatch {
    /// Those that ask for something, in byte order of their paths.
    pub triggers: Vec<TriggeringFile>,
    /// Changed files that other triggers expected, in byte order.
    pub matched: Vec<String>,
    /// The patterns of `safety` that answer all triggers at once.
    pub safety: Vec<String>,
    /// Changed files match `safety`, and nothing is asked for.
    pub is_silenced: bool,
}

/// A changed file that asks for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggeringFile {
    pub path: String,
    pub status: Status,
    pub captures: Captures,
    /// What should have changed with it and did not: a path, or a pattern. Nothing where the change itself is the point.
    pub missing: Vec<String>,
    /// What would answer it alone, by `safety`: a change of any one of these.
    pub safety: Vec<String>,
}

impl FileMatch {
    pub fn is_unmet(&self) -> bool {
        !self.triggers.is_empty() && !self.is_silenced
    }

    /// Each trigger with each thing that it lacks.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.triggers
            .iter()
            .flat_map(|trigger| trigger.missing.iter().map(|missing| (trigger.path.as_str(), missing.as_str())))
    }

    /// The triggers' paths.
    pub fn trigger_files(&self) -> impl Iterator<Item = &str> {
        self.triggers.iter().map(|trigger| trigger.path.as_str())
    }

    /// All that is missing, each once, in order of the first trigger that lacks it.
    pub fn expected_files(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        self.pairs().map(|(_, missing)| missing).filter(|missing| known.insert(*missing)).collect()
    }

    /// Without the triggers that somebody has answered for.
    #[must_use]
    pub fn without(mut self, is_settled: impl Fn(&TriggeringFile) -> bool) -> Self {
        self.triggers.retain(|trigger| !is_settled(trigger));
        self
    }
}
