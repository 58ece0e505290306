//! Checks on strings before they are stored: length, line breaks, secrets.

use store::{Masked, mask};

/// The maximum length of a title, in characters.
pub const MAX_TITLE: usize = 500;
/// The maximum length of a key, in characters.
pub const MAX_KEY: usize = 200;
/// The maximum length of a tag, in characters.
pub const MAX_TAG: usize = 50;
/// The maximum length of any other string, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// Why a string was refused. `what` says which string, for example `the title`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    #[error("{what} is empty")]
    Empty { what: &'static str },
    #[error("{what} has {found} characters; the maximum is {limit}")]
    LineTooLong { what: &'static str, found: usize, limit: usize },
    #[error("{what} has {found} bytes; the maximum is {limit} (64 KiB)")]
    TextTooLong { what: &'static str, found: usize, limit: usize },
    #[error("{what} must be one line of plain text")]
    NotOneLine { what: &'static str },
    #[error("{what} contains something that looks like a secret")]
    Secret { what: &'static str },
}

/// Checks a single line and masks its secrets.
pub(crate) fn check_line<'t>(what: &'static str, text: &'t str, limit: usize) -> Result<Masked<'t>, TextError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(TextError::Empty { what });
    }
    // Unicode line and paragraph separators are not control characters, but break lines too.
    if text.chars().any(|character| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')) {
        return Err(TextError::NotOneLine { what });
    }
    let found = text.chars().count();
    if found > limit {
        return Err(TextError::LineTooLong { what, found, limit });
    }
    Ok(mask(text))
}

/// Checks a name that has to be unique. A name with a secret is refused, because masking could make two names equal.
pub(crate) fn check_name<'t>(what: &'static str, text: &'t str, limit: usize) -> Result<&'t str, TextError> {
    check_line(what, text, limit)?.unchanged().ok_or(TextError::Secret { what })
}

/// Checks a string and masks its secrets. The string may be empty, and may have any number of lines.
pub(crate) fn check_text<'t>(what: &'static str, text: &'t str) -> Result<Masked<'t>, TextError> {
    let text = text.trim_end();
    if text.len() > MAX_TEXT {
        return Err(TextError::TextTooLong { what, found: text.len(), limit: MAX_TEXT });
    }
    Ok(mask(text))
}
