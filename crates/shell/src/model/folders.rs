//! The folders that a command may run in.

use std::sync::Arc;

/// The folders that a command may run in, as written from where the script starts: first the one that it runs in if
/// everything before it worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    list: Option<Arc<[String]>>,
    /// Whether it may be any of them, not just the first that is there.
    is_either: bool,
}

/// More are as good as any.
const MAX_FOLDERS: usize = 8;
/// Longer than people have them. Each `cd` makes a path longer, and each part of it is looked at.
const MAX_PATH: usize = 1024;

impl Default for Folders {
    fn default() -> Self {
        Self::at("")
    }
}

impl Folders {
    pub(crate) fn at(folder: &str) -> Self {
        Self { list: Some([folder.to_owned()].into()), is_either: false }
    }

    pub(crate) fn unknown() -> Self {
        Self { list: None, is_either: false }
    }

    /// `None`: it could be any.
    pub fn list(&self) -> Option<&[String]> {
        self.list.as_deref()
    }

    pub(crate) fn has_pattern(&self) -> bool {
        self.list.iter().flat_map(|folders| &**folders).any(|folder| folder.contains(['*', '?']))
    }

    pub(crate) fn only(&self) -> Option<&str> {
        match self.list.as_deref() {
            Some([only]) => Some(only),
            _ => None,
        }
    }

    /// Where a path leads from here.
    pub(crate) fn then(&self, path: &str) -> Self {
        let behind = |folder: &String| match path {
            "." | "./" => folder.clone(),
            _ if folder.is_empty() || path::is_rooted(path) => path.to_owned(),
            _ => format!("{folder}/{path}"),
        };
        match &self.list {
            None if path::is_rooted(path) => Self::at(path),
            folders => {
                let is_short = |folder: &String| folder.len() + path.len() < MAX_PATH;
                let short = folders.as_ref().filter(|folders| folders.iter().all(is_short));
                Self { list: short.map(|folders| folders.iter().map(behind).collect()), is_either: self.is_either }
            }
        }
    }

    pub fn is_either(&self) -> bool {
        self.is_either
    }

    /// The one or the other.
    pub(crate) fn or(&mut self, others: &Self) {
        self.is_either |= self != others;
        self.or_else(others);
    }

    /// One that is meant, and others if it fails.
    pub(crate) fn or_else(&mut self, others: &Self) {
        self.is_either |= others.is_either;
        match (&self.list, &others.list) {
            (Some(own), Some(others)) => {
                let more: Vec<&String> = others.iter().filter(|folder| !own.contains(folder)).collect();
                if own.len() + more.len() > MAX_FOLDERS {
                    self.list = None;
                } else if !more.is_empty() {
                    self.list = Some(own.iter().chain(more).cloned().collect());
                }
            }
            _ => self.list = None,
        }
    }
}
