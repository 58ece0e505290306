//! The languages, other than shell, in which Linchpin can read the code of a program.

use code::Language;

use crate::programs::canonical;

/// Returns the language of the code that a program runs, if Linchpin can read it.
pub(crate) fn language_of(program: &str) -> Option<Language> {
    Language::of_interpreter(canonical(program))
}

/// True if Linchpin can read the code that this program runs.
pub(crate) fn is_readable(program: &str) -> bool {
    language_of(program).is_some()
}
