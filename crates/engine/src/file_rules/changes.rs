//! The set of changed files.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// How a file changed since the baseline. A moved file counts as a change of both paths, not as a creation.
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
    /// Relative to the project's root, with `/`.
    pub path: String,
}

/// True for a normalised project-relative path: no empty parts, `.` or `..`.
pub fn is_project_path(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Changes by path, in byte order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    by_path: BTreeMap<String, Status>,
    /// Paths that other sessions changed. They trigger no rule, but can satisfy one.
    others: BTreeSet<String>,
    /// All paths, one per line: a single substring search skips rules that match no path.
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

    /// Prefilter: false only if no path contains the text.
    pub(super) fn may_contain(&self, text: &str) -> bool {
        memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// Paths that contain the text, in arbitrary order. All paths if some contain line breaks.
    pub(super) fn containing<'a>(&'a self, text: &'a str) -> Vec<&'a str> {
        if text.is_empty() || self.has_line_breaks {
            return self.paths().collect();
        }
        let mut found = Vec::new();
        let mut end = 0;
        for at in memmem::find_iter(self.text.as_bytes(), text.as_bytes()) {
            // The text occurs again in the same path.
            if at < end {
                continue;
            }
            let start = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |line| line + 1);
            end = self.text.get(at..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |length| at + length);
            found.extend(self.text.get(start..end));
        }
        found
    }

    /// The changes that can trigger rules.
    pub fn own(&self) -> impl Iterator<Item = (&str, Status)> {
        self.iter().filter(|(path, _)| !self.others.contains(*path))
    }

    pub fn is_own(&self, path: &str) -> bool {
        !self.others.contains(path)
    }

    /// Returns a copy in which the paths that fail `is_own` count as changes of other sessions, which trigger no rule.
    #[must_use]
    pub fn with_own(&self, mut is_own: impl FnMut(&str) -> bool) -> Self {
        let others = self.paths().filter(|path| !is_own(path)).map(str::to_owned).collect();
        Self { others, ..self.clone() }
    }

    /// The changes whose path passes `keep`.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(&str) -> bool) -> Self {
        self.iter()
            .filter(|(path, _)| keep(path))
            .map(|(path, status)| Change { status, path: path.to_owned() })
            .collect()
    }
}

/// Of two changes of the same path, the later one is kept.
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
        Self { by_path, others: BTreeSet::new(), text, has_line_breaks }
    }
}
