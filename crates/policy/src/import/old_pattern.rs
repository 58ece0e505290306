//! Converts patterns of DeepWork's old format, and describes differences in their meaning.
//!
//! In the old format, a pattern without `**` or with several was matched against the whole path, and `*` matched any
//! characters including `/`. In a pattern with exactly one `**`, the part before the `**` was a literal directory name,
//! and the part after it was matched against the end of the path. Braces were literal.

#[derive(Debug, PartialEq, Eq)]
pub struct ConvertedPattern {
    pub pattern: String,
    /// The differences in meaning; empty if the pattern is unchanged and means the same.
    pub reasons: Vec<String>,
}

const STAR_CROSSED_DIRECTORIES: &str = "`*` crossed folders in the old format, but does not here";

pub fn convert(old: &str) -> ConvertedPattern {
    let mut reasons = Vec::new();
    let mut pattern = convert_braces(old, &mut reasons);
    if old.contains('\\') {
        reasons.push("`\\` meant `/` in the old format, but escapes the next character here".to_owned());
    }
    match pattern.split("**").collect::<Vec<_>>().as_slice() {
        [_] => {
            if pattern.contains('*') {
                reasons.push(STAR_CROSSED_DIRECTORIES.to_owned());
                pattern = with_double_star(&pattern).unwrap_or(pattern);
            }
        }
        [before, after] => {
            if before.contains(['*', '?', '[']) {
                reasons.push(format!("`{before}` was a literal name in the old format, but is a pattern here"));
            }
            if after.trim_start_matches('/').trim_start_matches('*').contains('*') {
                reasons.push(STAR_CROSSED_DIRECTORIES.to_owned());
            }
        }
        _ => reasons.push("`**` matched at least one folder in the old format, but may match none here".to_owned()),
    }
    if pattern == "**/*" || pattern.ends_with("/**/*") {
        if reasons.is_empty() {
            reasons.push("matches the same files".to_owned());
        }
        pattern.truncate(pattern.len() - "/*".len());
    }
    ConvertedPattern { pattern, reasons }
}

/// Returns a pattern that means what `pattern` meant in the old format, where `*` crossed directories. `None` if there
/// are several `*`, or the `*` is not at the start of the file name, because no pattern has that meaning.
fn with_double_star(pattern: &str) -> Option<String> {
    let (directory, file) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let rest = file.strip_prefix('*').filter(|rest| !rest.contains('*') && !directory.contains('*'))?;
    let directories = if directory.is_empty() { "**".to_owned() } else { format!("{directory}/**") };
    Some(if rest.is_empty() { directories } else { format!("{directories}/{file}") })
}

/// Keeps `{a,b}`: it was literal in the old format, but its author certainly meant alternatives. Escapes all other
/// braces.
fn convert_braces(old: &str, reasons: &mut Vec<String>) -> String {
    let mut pattern = String::with_capacity(old.len());
    let mut rest = old;
    let (mut has_alternatives, mut has_escaped_brace) = (false, false);
    while let Some(offset) = rest.find(['{', '}', '\\']) {
        let (before, from) = rest.split_at(offset);
        pattern.push_str(before);
        let length = match alternatives_length(from) {
            Some(length) => {
                has_alternatives = true;
                pattern.push_str(from.get(..length).unwrap_or_default());
                length
            }
            // Keeps the backslash with the character that it escapes.
            None if from.starts_with('\\') => {
                let length = from.chars().take(2).map(char::len_utf8).sum();
                pattern.push_str(from.get(..length).unwrap_or_default());
                length
            }
            None => {
                has_escaped_brace = true;
                pattern.push('\\');
                pattern.push_str(from.get(..1).unwrap_or_default());
                1
            }
        };
        rest = from.get(length..).unwrap_or_default();
    }
    pattern.push_str(rest);
    if has_alternatives {
        reasons.push("braces were literal in the old format, but `{a,b}` means `a` or `b` here".to_owned());
    }
    if has_escaped_brace {
        reasons.push("a literal brace is escaped with `\\`".to_owned());
    }
    pattern
}

/// The length of `{a,b}` at the start of the text.
fn alternatives_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('{')?;
    let (inner, _) = inner.split_once('}')?;
    let is_simple = inner.contains(',') && !inner.contains('{') && inner.chars().any(|character| character != ',');
    is_simple.then_some(inner.len() + 2)
}
