//! Patterns: path patterns, names with globs, and words with `*`.

use engine::rules::{PathClause, PathKey, PathPattern, Wildcard};
use path::pattern::{Pattern, PatternError};

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};

/// Reads the path clauses under `keys`. `except`: paths that the clauses do not match.
pub fn read_path_clauses(keys: &[PathKey], except: &[PathPattern], fields: &mut Fields) -> Vec<PathClause> {
    let clause = |key: &PathKey| {
        let patterns = read_path_patterns(key.name(), fields)?;
        Some(PathClause { key: *key, patterns, except: except.to_vec() })
    };
    keys.iter().filter_map(clause).collect()
}

pub fn read_path_patterns(key: &str, fields: &mut Fields) -> Option<Vec<PathPattern>> {
    let texts = fields.texts(key)?;
    Some(texts.iter().filter_map(|text| parse_path_pattern(text, fields)).collect())
}

pub fn parse_path_pattern(text: &SpannedText, fields: &mut Fields) -> Option<PathPattern> {
    if text.value == PathPattern::OUTSIDE_PROJECT {
        return Some(PathPattern::OutsideProject);
    }
    match Pattern::parse_relative_or_absolute(&text.value) {
        Ok(pattern) => {
            warn_of_pattern(text, &pattern, fields);
            let literal = pattern.required_literal().to_owned();
            Some(PathPattern::Glob { source: text.value.clone(), literal })
        }
        Err(problem) => {
            refuse_pattern(text, &problem, fields);
            None
        }
    }
}

pub fn parse_wildcard(text: &SpannedText, fields: &mut Fields) -> Option<Wildcard> {
    if text.value.is_empty() {
        fields.refuse(DiagnosticKind::InvalidValue, "an empty pattern matches nothing", text.span.clone());
        return None;
    }
    Wildcard::parse(&text.value).map_err(|problem| refuse_pattern(text, &problem, fields)).ok()
}

/// Checks a name with globs. Reports an invalid one, and returns true for a valid one.
pub fn check_name_pattern(text: &SpannedText, fields: &mut Fields) -> bool {
    if text.value.is_empty() {
        fields.refuse(DiagnosticKind::InvalidValue, "the name is empty", text.span.clone());
        return false;
    }
    let parsed = Pattern::parse(&text.value);
    if let Err(problem) = &parsed {
        refuse_pattern(text, problem, fields);
    }
    parsed.is_ok()
}

/// Adds warnings about patterns that probably do not match as intended.
pub fn warn_of_pattern(text: &SpannedText, pattern: &Pattern, fields: &mut Fields) {
    for warning in pattern.warnings() {
        let (message, span) = (warning.to_string(), Some(text.span.clone()));
        fields.problems.push(Diagnostic::warning(DiagnosticKind::PatternError, message, fields.source(), span));
    }
}

pub fn refuse_pattern(text: &SpannedText, problem: &PatternError, fields: &mut Fields) {
    let span = fields.source().span_of_part(&text.span, &text.value, &problem.span());
    fields.problems.push(
        Diagnostic::error(DiagnosticKind::PatternError, problem.message(), fields.source(), Some(span))
            .maybe_help(problem.help().map(str::to_owned)),
    );
}
