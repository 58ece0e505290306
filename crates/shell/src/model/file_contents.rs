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

/// A function that returns the contents of a file; `None` if the session did not write the file. The argument is the
/// file's path, relative to the directory in which the script starts.
pub type ContentsLookup<'a> = &'a dyn Fn(&str) -> Option<FileContents>;
