//! The set of changed files.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// How a file changed since the baseline. If a file was moved, its old path is `Deleted`, and its new path is
/// `Modified` instead of `Added`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    #[serde(rename = "M")]
    Modified,
    #[serde(rename = "A")]
    Added,
    #[serde(rename = "D")]
    Deleted,
}

impl Status {
    pub const fn letter(self) -> char {
        match self {
            Self::Modified => 'M',
            Self::Added => 'A',
            Self::Deleted => 'D',
        }
    }

    pub fn from_letter(letter: &str) -> Option<Self> {
        [Self::Modified, Self::Added, Self::Deleted]
            .into_iter()
            .find(|status| letter.strip_prefix(status.letter()).is_some_and(str::is_empty))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub status: Status,
    /// The path relative to the project's root, with `/` as the separator.
    pub path: String,
}

/// True for a normalized path relative to the project's root, which has no empty parts, no `.` and no `..`.
pub fn is_project_path(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The changed files with their kind of change, in byte order of the paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    by_path: BTreeMap<String, Status>,
    /// The paths that other sessions changed. Such a change triggers no rule, but can satisfy a rule.
    changed_by_others: BTreeSet<String>,
    /// All paths, one per line. A single search for a substring then shows whether any path can match a rule.
    text: String,
    /// True if a path contains a line break.
    has_line_breaks: bool,
}

impl Changes {
    pub fn contains(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    pub fn status(&self, path: &str) -> Option<Status> {
        self.by_path.get(path).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, Status)> {
        self.by_path.iter().map(|(path, status)| (path.as_str(), *status))
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.by_path.keys().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.by_path.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Prefilter: false only if no path contains `text`.
    pub(super) fn may_contain(&self, text: &str) -> bool {
        memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// Returns the paths that contain `text`, in arbitrary order. Returns all paths if `text` is empty or a path
    /// contains a line break.
    pub(super) fn paths_containing<'a>(&'a self, text: &'a str) -> Vec<&'a str> {
        if text.is_empty() || self.has_line_breaks {
            return self.paths().collect();
        }
        let mut paths = Vec::new();
        let mut end = 0;
        for at in memmem::find_iter(self.text.as_bytes(), text.as_bytes()) {
            // This occurrence of `text` is in the path that was added last.
            if at < end {
                continue;
            }
            let start = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |line| line + 1);
            end = self.text.get(at..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |length| at + length);
            paths.extend(self.text.get(start..end));
        }
        paths
    }

    /// The changes that were not made by other sessions. Only these changes can trigger rules.
    pub fn own(&self) -> impl Iterator<Item = (&str, Status)> {
        self.iter().filter(|(path, _)| !self.changed_by_others.contains(*path))
    }

    pub fn is_own(&self, path: &str) -> bool {
        !self.changed_by_others.contains(path)
    }

    /// Returns a copy in which every path for which `is_own` returns false counts as changed by other sessions.
    #[must_use]
    pub fn with_own(&self, mut is_own: impl FnMut(&str) -> bool) -> Self {
        let changed_by_others = self.paths().filter(|path| !is_own(path)).map(str::to_owned).collect();
        Self { changed_by_others, ..self.clone() }
    }

    /// Returns the changes for whose path `keep` returns true. In the result, no path counts as changed by other
    /// sessions.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(&str) -> bool) -> Self {
        self.iter()
            .filter(|(path, _)| keep(path))
            .map(|(path, status)| Change { status, path: path.to_owned() })
            .collect()
    }
}

/// If a path occurs more than once, its last change is kept.
impl FromIterator<Change> for Changes {
    fn from_iter<T: IntoIterator<Item = Change>>(changes: T) -> Self {
        let by_path: BTreeMap<String, Status> =
            changes.into_iter().map(|change| (change.path, change.status)).collect();
        let mut text = String::with_capacity(by_path.keys().map(|path| path.len() + 1).sum());
        for path in by_path.keys() {
            text.push_str(path);
            text.push('\n');
        }
        let has_line_breaks = by_path.keys().any(|path| path.contains('\n'));
        Self { by_path, changed_by_others: BTreeSet::new(), text, has_line_breaks }
    }
}
