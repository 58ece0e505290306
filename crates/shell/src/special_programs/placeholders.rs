//! Replaces marks such as the `{}` of `find`, `xargs` and `parallel`.

use crate::model::Word;

/// Longer texts are not created: a text may have many marks, each with a long replacement.
const MAX_LENGTH: usize = 64 * 1024;
/// For all words of a command together.
const MAX_ADDED: usize = 256 * 1024;

/// True if replacements of this length may be inserted at each mark in the words.
pub(crate) fn fits(words: &[Word], mark: &str, length: usize) -> bool {
    let texts = words.iter().filter_map(|word| word.value.as_deref());
    let marks: usize = texts.map(|text| text.matches(mark).count()).sum();
    marks.saturating_mul(length) <= MAX_ADDED
}

/// Replaces each mark in a text; `None` if the result would be too long.
pub(crate) fn filled(text: &str, mark: &str, with: &str) -> Option<String> {
    let added = text.matches(mark).count().saturating_mul(with.len());
    (text.len().saturating_add(added) <= MAX_LENGTH).then(|| text.replace(mark, with))
}
