//! The directories that a command may run in.

use std::sync::Arc;

/// The directories that a command may run in, relative to the directory in which the script starts. Unless `is_either`
/// is true, the command runs in the first directory of the list that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleDirectories {
    list: Option<Arc<[String]>>,
    /// True if the command may run in any of the directories, even if all of them exist.
    is_either: bool,
}

/// If there are more directories than this, the directory counts as unknown.
const MAX_DIRECTORIES: usize = 8;
/// Longer paths count as unknown. Each `cd` makes a path longer, and each segment of a path costs work.
const MAX_PATH: usize = 1024;

impl Default for PossibleDirectories {
    fn default() -> Self {
        Self::at("")
    }
}

impl PossibleDirectories {
    pub(crate) fn at(directory: &str) -> Self {
        Self { list: Some([directory.to_owned()].into()), is_either: false }
    }

    pub(crate) fn unknown() -> Self {
        Self { list: None, is_either: false }
    }

    /// Returns the directories; `None` if the command may run in any directory.
    pub fn list(&self) -> Option<&[String]> {
        self.list.as_deref()
    }

    /// True if one of the directories contains glob characters.
    pub(crate) fn has_pattern(&self) -> bool {
        self.list.iter().flat_map(|directories| &**directories).any(|directory| directory.contains(['*', '?']))
    }

    /// Returns the directory if there is only one possible directory.
    pub(crate) fn only(&self) -> Option<&str> {
        match self.list.as_deref() {
            Some([only]) => Some(only),
            _ => None,
        }
    }

    /// Returns the directories after `cd path`.
    pub(crate) fn after_cd(&self, path: &str) -> Self {
        let changed = |directory: &String| match path {
            "." | "./" => directory.clone(),
            _ if directory.is_empty() || path::is_rooted(path) => path.to_owned(),
            _ => format!("{directory}/{path}"),
        };
        match &self.list {
            None if path::is_rooted(path) => Self::at(path),
            directories => {
                let is_short = |directory: &String| directory.len() + path.len() < MAX_PATH;
                let short = directories.as_ref().filter(|directories| directories.iter().all(is_short));
                Self {
                    list: short.map(|directories| directories.iter().map(changed).collect()),
                    is_either: self.is_either,
                }
            }
        }
    }

    pub fn is_either(&self) -> bool {
        self.is_either
    }

    /// Adds directories. The command may run in any of the previous and the added directories.
    pub(crate) fn or(&mut self, others: &Self) {
        self.is_either |= self != others;
        self.or_else(others);
    }

    /// Adds directories in which the command runs only if changing to the previous directories fails.
    pub(crate) fn or_else(&mut self, others: &Self) {
        self.is_either |= others.is_either;
        match (&self.list, &others.list) {
            (Some(known), Some(others)) => {
                let more: Vec<&String> = others.iter().filter(|directory| !known.contains(directory)).collect();
                if known.len() + more.len() > MAX_DIRECTORIES {
                    self.list = None;
                } else if !more.is_empty() {
                    self.list = Some(known.iter().chain(more).cloned().collect());
                }
            }
            _ => self.list = None,
        }
    }
}
