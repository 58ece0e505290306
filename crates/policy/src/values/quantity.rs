//! Durations and sizes.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;
use crate::text::yaml::Yaml;

pub const DAY: u64 = 24 * 60 * 60;
pub const KIB: usize = 1024;
/// Allowed values of `output_limit`, in KiB: enough to show a reason, and not more than an agent should read.
const OUTPUT_LIMITS: RangeInclusive<usize> = 1..=64;

/// Reads a duration: `500ms`, `2s`, `5m`, `1h` or `90d`.
pub fn read_duration(key: &str, fields: &mut Fields) -> Option<(Duration, Range<usize>)> {
    let text = fields.text_or_number(key)?;
    let Some(length) = parse_duration(&text.value) else {
        let message =
            format!("`{key}` must be a duration such as `500ms`, `2s`, `5m`, `1h` or `90d`, not `{}`", text.value);
        let help = text.value.parse::<u64>().is_ok().then(|| format!("write `{}s` for seconds", text.value));
        let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(text.span));
        fields.problems.push(problem.maybe_help(help));
        return None;
    };
    Some((length, text.span))
}

pub fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic()).trim_end();
    let milliseconds = match text.get(digits.len()..).unwrap_or_default().trim() {
        "ms" => 1,
        "s" => 1000,
        "m" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        "d" => DAY * 1000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(milliseconds).map(Duration::from_millis)
}

/// Reads `output_limit`, such as `16 KiB`.
pub fn read_output_limit(fields: &mut Fields) -> Option<usize> {
    let node = fields.take("output_limit")?;
    let count = match &node.value {
        Yaml::Text(text) => text.strip_suffix("KiB").and_then(|count| count.trim_end().parse::<usize>().ok()),
        _ => None,
    };
    if let Some(count) = count.filter(|count| OUTPUT_LIMITS.contains(count)) {
        return Some(count * KIB);
    }
    let message =
        format!("`output_limit` must be a size from `{} KiB` to `{} KiB`", OUTPUT_LIMITS.start(), OUTPUT_LIMITS.end());
    fields.refuse(DiagnosticKind::InvalidValue, message, node.span);
    None
}
