//! Reads regexes.

use engine::bounded_regex::{BoundedRegex, RegexSource};

use crate::text::diagnostic::DiagnosticKind;
use crate::text::fields::{Fields, SpannedText};

/// Reads the regex under a key.
pub fn read_regex(key: &str, fields: &mut Fields) -> Option<RegexSource> {
    let text = fields.text(key)?;
    parse_regex(&text, fields)
}

/// Returns `None` if the regex is invalid, and reports why.
pub fn parse_regex(text: &SpannedText, fields: &mut Fields) -> Option<RegexSource> {
    match BoundedRegex::parse(&text.value) {
        Ok(_) => Some(RegexSource::new(&text.value)),
        Err(problem) => {
            let span = problem.span.unwrap_or(0..text.value.len());
            let span = fields.source().span_of_part(&text.span, &text.value, &span);
            fields.refuse(DiagnosticKind::InvalidRulePattern, problem.message, span);
            None
        }
    }
}
