//! What is in a file that was written in the session.

use std::sync::Arc;

/// Longer files are not followed. A file can be added to itself.
pub(crate) const MAX_WRITTEN: usize = 64 * 1024;

/// What is known of a file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    Text(Arc<str>),
    /// Nobody can say what is in it.
    Unknown,
}

impl Written {
    /// The one behind the other.
    pub(crate) fn then(self, other: Self) -> Self {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) if one.len() + other.len() <= MAX_WRITTEN => {
                Self::Text(format!("{one}\n{other}").into())
            }
            _ => Self::Unknown,
        }
    }
}

/// Tells what is in a file, by its path from where the script starts; `None` where it was not written in the session.
pub type Earlier<'a> = &'a dyn Fn(&str) -> Option<Written>;
