//! The contents of files that the session wrote.

use std::sync::Arc;

/// Longer contents count as unknown. Without a limit, a script could double a file again and again by appending it to
/// itself.
pub(crate) const MAX_CONTENTS: usize = 64 * 1024;

/// The contents of a file that the session wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContents {
    Text(Arc<str>),
    /// The contents cannot be determined.
    Unknown,
}

impl FileContents {
    /// Concatenates the contents of two files, with a newline between them.
    pub(crate) fn concat(self, other: Self) -> Self {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) if one.len() + other.len() <= MAX_CONTENTS => {
                Self::Text(format!("{one}\n{other}").into())
            }
            _ => Self::Unknown,
        }
    }
}

/// Returns the contents of a file, by its path relative to where the script starts; `None` if the session did not write
/// it.
pub type ContentsLookup<'a> = &'a dyn Fn(&str) -> Option<FileContents>;
