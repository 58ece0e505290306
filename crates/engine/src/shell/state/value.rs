//! What a variable holds.

use std::sync::Arc;

use super::super::command::{ALL_BELOW, Word};

pub(in super::super) const SOME_NUMBER: &str = "12345";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Value {
    pub(in super::super) text: Arc<str>,
    /// It has glob characters that were not quoted.
    pub(in super::super) glob: bool,
    /// A `~` of it stands for the home folder.
    pub(in super::super) tilde: bool,
    /// It is not the text itself, but stands for one of its kind.
    pub(in super::super) in_kind: bool,
}

impl Value {
    pub(in super::super) fn of(word: &Word) -> Option<Self> {
        let in_kind = word.value.is_none();
        word.meaning().map(|text| Self { text: text.into(), glob: word.glob, tilde: word.tilde, in_kind })
    }

    pub(in super::super) fn plain(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), glob: false, tilde: false, in_kind: false }
    }

    /// One of the paths that a pattern stands for.
    pub(in super::super) fn one_of(pattern: Self) -> Self {
        Self { glob: !pattern.text.ends_with(ALL_BELOW), in_kind: true, ..pattern }
    }

    pub(in super::super) fn in_kind(text: impl Into<Arc<str>>) -> Self {
        Self { in_kind: true, ..Self::plain(text) }
    }

    pub(in super::super) fn some_number() -> Self {
        Self::in_kind(SOME_NUMBER)
    }
}
