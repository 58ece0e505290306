//! Rule ids. They are also file names.

use std::ops::Range;

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::source::Source;

/// Maximum length of a rule id: shorter than any file system's limit, with room for an extension.
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
        ("reserved rule id `linchpin`: Linchpin uses it for its own messages".to_owned(), "choose another name")
    } else if length > LONGEST {
        (format!("the rule id has {length} characters, over the limit of {LONGEST}"), "choose a shorter name")
    } else if !is_name {
        let message = if id.is_empty() { "the rule id is empty".to_owned() } else { format!("invalid rule id `{id}`") };
        (message, "use letters, digits, `-`, `_` and `.`, and start with a letter or digit")
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
