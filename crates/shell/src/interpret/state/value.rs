//! What a variable holds.

use std::sync::Arc;

use crate::model::{ALL_BELOW, SOME_NUMBER, Word};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: Arc<str>,
    /// It has glob characters that were not quoted.
    pub(crate) glob: bool,
    /// A `~` of it stands for the home folder.
    pub(crate) tilde: bool,
    /// It is not the text itself, but stands for one of its kind.
    pub(crate) in_kind: bool,
}

impl Value {
    pub(crate) fn of(word: &Word) -> Option<Self> {
        let in_kind = word.value.is_none();
        word.meaning().map(|text| Self { text: text.into(), glob: word.glob, tilde: word.tilde, in_kind })
    }

    pub(crate) fn plain(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), glob: false, tilde: false, in_kind: false }
    }

    /// One of the paths that a pattern stands for.
    pub(crate) fn one_of(pattern: Self) -> Self {
        Self { glob: !pattern.text.ends_with(ALL_BELOW), in_kind: true, ..pattern }
    }

    pub(crate) fn in_kind(text: impl Into<Arc<str>>) -> Self {
        Self { in_kind: true, ..Self::plain(text) }
    }

    pub(crate) fn some_number() -> Self {
        Self::in_kind(SOME_NUMBER)
    }
}
