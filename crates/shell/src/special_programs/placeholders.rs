//! Marks in a text that stand for something else: the `{}` of `find`, `xargs` and `parallel`.

use crate::model::Word;

/// Longer texts are not made: each of many marks may stand for much.
const MAX_LENGTH: usize = 64 * 1024;
/// Of all words of a command.
const MAX_ADDED: usize = 256 * 1024;

/// Whether so much can stand in the place of each mark in the words.
pub(crate) fn fits(words: &[Word], mark: &str, length: usize) -> bool {
    let texts = words.iter().filter_map(|word| word.value.as_deref());
    let marks: usize = texts.map(|text| text.matches(mark).count()).sum();
    marks.saturating_mul(length) <= MAX_ADDED
}

/// The text with something in the place of each mark; `None` where that would be too long.
pub(crate) fn filled(text: &str, mark: &str, with: &str) -> Option<String> {
    let added = text.matches(mark).count().saturating_mul(with.len());
    (text.len().saturating_add(added) <= MAX_LENGTH).then(|| text.replace(mark, with))
}
