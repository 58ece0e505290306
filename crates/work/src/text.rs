//! What may be written down: lengths, lines, and no secrets.

use store::{Masked, mask};

/// In characters.
pub const LONGEST_TITLE: usize = 500;
pub const LONGEST_KEY: usize = 200;
pub const LONGEST_TAG: usize = 50;
/// In bytes.
pub const LONGEST_TEXT: usize = 64 * 1024;

/// Why a text is not written down as it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    #[error("{what} is empty")]
    Empty { what: &'static str },
    #[error("{what} has {found} characters, and {limit} are the most")]
    LongLine { what: &'static str, found: usize, limit: usize },
    #[error("{what} has {found} bytes, and {limit} (64 KiB) are the most")]
    LongText { what: &'static str, found: usize, limit: usize },
    #[error("{what} is one line of plain text")]
    NotALine { what: &'static str },
    #[error("{what} holds what looks like a secret")]
    Secret { what: &'static str },
}

/// One line, with its secrets masked.
pub(crate) fn line<'t>(what: &'static str, text: &'t str, limit: usize) -> Result<Masked<'t>, TextError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(TextError::Empty { what });
    }
    // The separators of lines and paragraphs are none, but end a line as well.
    if text.chars().any(|letter| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')) {
        return Err(TextError::NotALine { what });
    }
    let found = text.chars().count();
    if found > limit {
        return Err(TextError::LongLine { what, found, limit });
    }
    Ok(mask(text))
}

/// A name by which something is found again. Masked, two of them could become one.
pub(crate) fn name<'t>(what: &'static str, text: &'t str, limit: usize) -> Result<&'t str, TextError> {
    line(what, text, limit)?.unchanged().ok_or(TextError::Secret { what })
}

/// Any text, with its secrets masked; it may be empty.
pub(crate) fn text<'t>(what: &'static str, text: &'t str) -> Result<Masked<'t>, TextError> {
    let text = text.trim_end();
    if text.len() > LONGEST_TEXT {
        return Err(TextError::LongText { what, found: text.len(), limit: LONGEST_TEXT });
    }
    Ok(mask(text))
}
