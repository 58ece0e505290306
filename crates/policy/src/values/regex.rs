//! Reads regular expressions.

use engine::bounded_regex::BoundedRegex;
use engine::bounded_regex::RegexSource;

use crate::text::diagnostic::ErrorKind;
use crate::text::fields::{Fields, SpannedText};

/// Reads the regex under a key.
pub fn regex(key: &str, fields: &mut Fields) -> Option<RegexSource> {
    let text = fields.text(key)?;
    text_search(&text, fields)
}

/// `None` if the regex is invalid, which is reported.
pub fn text_search(text: &SpannedText, fields: &mut Fields) -> Option<RegexSource> {
    match BoundedRegex::parse(&text.value) {
        Ok(_) => Some(RegexSource::new(&text.value)),
        Err(problem) => {
            let span = problem.span.unwrap_or(0..text.value.len());
            let span = fields.source().within(&text.span, &text.value, &span);
            fields.refuse(ErrorKind::InvalidRulePattern, problem.message, span);
            None
        }
    }
}
