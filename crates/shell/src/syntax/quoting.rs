//! How words are written into a text that a shell reads.

/// A word as it is, whatever stands in it.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
