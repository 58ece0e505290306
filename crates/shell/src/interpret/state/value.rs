//! The value of a variable.

use std::sync::Arc;

use crate::model::{ALL_BELOW, SOME_NUMBER, Word};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: Arc<str>,
    /// True if the value has unquoted glob characters.
    pub(crate) glob: bool,
    /// True if the `~` in the value stands for the home directory.
    pub(crate) tilde: bool,
    /// True if the text is not the exact value, but a placeholder for it: a number for any number, a glob for one of
    /// its matches.
    pub(crate) is_placeholder: bool,
}

impl Value {
    pub(crate) fn of(word: &Word) -> Option<Self> {
        let is_placeholder = word.value.is_none();
        word.value_or_placeholder().map(|text| Self {
            text: text.into(),
            glob: word.glob,
            tilde: word.tilde,
            is_placeholder,
        })
    }

    pub(crate) fn literal(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), glob: false, tilde: false, is_placeholder: false }
    }

    /// One of the paths that a glob matches.
    pub(crate) fn any_match_of(pattern: Self) -> Self {
        Self { glob: !pattern.text.ends_with(ALL_BELOW), is_placeholder: true, ..pattern }
    }

    pub(crate) fn placeholder(text: impl Into<Arc<str>>) -> Self {
        Self { is_placeholder: true, ..Self::literal(text) }
    }

    pub(crate) fn unknown_number() -> Self {
        Self::placeholder(SOME_NUMBER)
    }
}
