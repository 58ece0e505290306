//! Rule ids. They are also file names.

use std::ops::Range;

use engine::verdict::GUARD_RULE;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;

/// Maximum length of a rule id: shorter than any file system's limit, with room for an extension.
const MAX_LENGTH: usize = 100;

/// An error message for an invalid rule id.
pub struct InvalidRuleId {
    pub message: String,
    pub help: &'static str,
}

/// Derives an id from a title: its letters and digits in lower case, joined by dashes. Empty if the title has none.
pub fn from_title(title: &str) -> String {
    let words = title.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

pub fn check(id: &str) -> Result<(), InvalidRuleId> {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    let is_name = id.starts_with(|first: char| first.is_ascii_alphanumeric()) && id.chars().all(is_allowed);
    let length = id.chars().count();
    let (message, help) = if id == GUARD_RULE {
        (format!("reserved rule id `{id}`: Linchpin uses it for its own messages"), "choose another name")
    } else if length > MAX_LENGTH {
        (format!("the rule id has {length} characters, over the limit of {MAX_LENGTH}"), "choose a shorter name")
    } else if !is_name {
        let message = if id.is_empty() { "the rule id is empty".to_owned() } else { format!("invalid rule id `{id}`") };
        (message, "use letters, digits, `-`, `_` and `.`, and start with a letter or digit")
    } else {
        return Ok(());
    };
    Err(InvalidRuleId { message, help })
}

impl InvalidRuleId {
    pub fn diagnostic_at(self, source: &Source, span: Option<Range<usize>>) -> Diagnostic {
        Diagnostic::error(DiagnosticKind::InvalidValue, self.message, source, span).help(self.help)
    }
}
