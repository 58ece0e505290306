//! Inserts text for the replacement strings of `find`, `xargs` and `parallel`, such as `{}`.

use crate::model::Word;

/// Longer texts are not created: a text may contain the replacement string many times, each with a long replacement.
const MAX_LENGTH: usize = 64 * 1024;
/// The maximum length that is added to all words of a command together.
const MAX_ADDED: usize = 256 * 1024;

/// True if replacements of this length may be inserted wherever the words contain the replacement string.
pub(crate) fn fits(words: &[Word], replace_string: &str, length: usize) -> bool {
    let texts = words.iter().filter_map(|word| word.value.as_deref());
    let count: usize = texts.map(|text| text.matches(replace_string).count()).sum();
    count.saturating_mul(length) <= MAX_ADDED
}

/// Inserts a replacement wherever a text contains the replacement string; `None` if the result would be too long.
pub(crate) fn insert(text: &str, replace_string: &str, replacement: &str) -> Option<String> {
    let added = text.matches(replace_string).count().saturating_mul(replacement.len());
    (text.len().saturating_add(added) <= MAX_LENGTH).then(|| text.replace(replace_string, replacement))
}
