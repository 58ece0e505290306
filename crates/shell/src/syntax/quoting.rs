//! Quotes words for a shell.

/// Returns the word in single quotes, whatever characters it contains.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
