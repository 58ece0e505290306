//! The files that changed, each once.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// What became of a file since the baseline. A file that was moved is a change of both paths, and no creation.
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

/// Whether a text is the path of a file in a project, as changes name it.
pub fn is_project_path(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Changes by path, in byte order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    by_path: BTreeMap<String, Status>,
    /// Those that somebody else made: they ask for nothing, and can be what another change expects.
    others: BTreeSet<String>,
    /// Every path on a line of its own: one search in it passes over a rule that no path is about.
    text: String,
    /// A path has a line's end in it.
    has_odd_names: bool,
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

    /// Whether a text is in any of the paths; it may be wrong only in saying that it is.
    pub(super) fn mention(&self, text: &str) -> bool {
        memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// The paths that a text is in, in no order that means anything; some more where paths have lines of their own.
    pub(super) fn containing<'a>(&'a self, text: &'a str) -> Vec<&'a str> {
        if text.is_empty() || self.has_odd_names {
            return self.paths().collect();
        }
        let mut found = Vec::new();
        let mut end = 0;
        for at in memmem::find_iter(self.text.as_bytes(), text.as_bytes()) {
            // Once more in the same path.
            if at < end {
                continue;
            }
            let start = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |line| line + 1);
            end = self.text.get(at..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |length| at + length);
            found.extend(self.text.get(start..end));
        }
        found
    }

    /// Those that are asked about.
    pub fn own(&self) -> impl Iterator<Item = (&str, Status)> {
        self.iter().filter(|(path, _)| !self.others.contains(*path))
    }

    pub fn is_own(&self, path: &str) -> bool {
        !self.others.contains(path)
    }

    /// The same, but those that a test says are not one's own ask for nothing.
    #[must_use]
    pub fn owned(&self, mut is_own: impl FnMut(&str) -> bool) -> Self {
        let others = self.paths().filter(|path| !is_own(path)).map(str::to_owned).collect();
        Self { others, ..self.clone() }
    }

    /// Those of them that a test says are meant.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(&str) -> bool) -> Self {
        self.iter()
            .filter(|(path, _)| keep(path))
            .map(|(path, status)| Change { status, path: path.to_owned() })
            .collect()
    }
}

/// Of two changes of one path the later counts.
impl FromIterator<Change> for Changes {
    fn from_iter<T: IntoIterator<Item = Change>>(changes: T) -> Self {
        let by_path: BTreeMap<String, Status> =
            changes.into_iter().map(|change| (change.path, change.status)).collect();
        let mut text = String::with_capacity(by_path.keys().map(|path| path.len() + 1).sum());
        for path in by_path.keys() {
            text.push_str(path);
            text.push('\n');
        }
        let has_odd_names = by_path.keys().any(|path| path.contains('\n'));
        Self { by_path, others: BTreeSet::new(), text, has_odd_names }
    }
}
