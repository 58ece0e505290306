//! Names that a rule can have, and so a file.

use std::ops::Range;

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::source::Source;

/// Shorter than any file system's limit, with room for an extension.
const LONGEST: usize = 100;

/// Why a text cannot be a rule's id, and what to do.
pub struct WrongId {
    pub message: String,
    pub help: &'static str,
}

/// The id of a rule that has only a title: its letters and digits, in small letters with dashes. Empty where it has none.
pub fn of_title(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

pub fn check(id: &str) -> Result<(), WrongId> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let is_name = id.starts_with(|first: char| first.is_ascii_alphanumeric()) && id.chars().all(allowed);
    let length = id.chars().count();
    let (message, help) = if id == "linchpin" {
        ("`linchpin` cannot be a rule's id: the guard itself speaks under it".to_owned(), "give it another name")
    } else if length > LONGEST {
        (format!("a rule's id has at most {LONGEST} characters, and this one has {length}"), "give it a shorter name")
    } else if !is_name {
        let message =
            if id.is_empty() { "a rule's id is empty".to_owned() } else { format!("`{id}` cannot be a rule's id") };
        (message, "use letters, digits, `-`, `_` and `.`, beginning with a letter or digit")
    } else {
        return Ok(());
    };
    Err(WrongId { message, help })
}

impl WrongId {
    pub fn at(self, source: &Source, span: Option<Range<usize>>) -> Diagnostic {
        Diagnostic::error(ErrorKind::InvalidValue, self.message, source, span).help(self.help)
    }
}
