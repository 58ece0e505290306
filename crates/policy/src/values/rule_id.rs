//! Rule ids. They are also file names.

use std::ops::Range;

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::source::Source;

/// Shorter than any file system's limit, with room for an extension.
const LONGEST: usize = 100;

/// An error message for an invalid rule id.
pub struct InvalidRuleId {
    pub message: String,
    pub help: &'static str,
}

/// Derives an id from a title: its letters and digits in lower case, joined by dashes. Empty if the title has none.
pub fn from_title(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

pub fn check(id: &str) -> Result<(), InvalidRuleId> {
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
    Err(InvalidRuleId { message, help })
}

impl InvalidRuleId {
    pub fn at(self, source: &Source, span: Option<Range<usize>>) -> Diagnostic {
        Diagnostic::error(ErrorKind::InvalidValue, self.message, source, span).help(self.help)
    }
}
