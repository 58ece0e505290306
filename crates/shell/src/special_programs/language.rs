//! Languages of one-line programs.

use code::Language;

use crate::programs::canonical;

/// The language of the texts that a program runs, if it is one that is read.
pub(crate) fn language_of(program: &str) -> Option<Language> {
    Language::of(canonical(program))
}

/// Whether texts for a program can be read.
pub(crate) fn is_readable(program: &str) -> bool {
    language_of(program).is_some()
}
