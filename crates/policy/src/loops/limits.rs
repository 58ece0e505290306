//! Reads `limits`: numbers and durations, or `none` for no limit.

use std::time::Duration;

use engine::hats::RunLimits;

use super::keys::{LIMITS, NO_LIMIT};
use crate::text::diagnostic::DiagnosticKind;
use crate::text::fields::{Fields, SpannedText};
use crate::values::quantity::parse_duration;

pub fn read(loop_fields: &mut Fields) -> RunLimits {
    let mut limits = RunLimits::default();
    let Some(node) = loop_fields.take("limits") else { return limits };
    let mut fields = Fields::of(node, loop_fields.source(), LIMITS.keys);
    fields.refuse_unknown();
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let duration = |text: &str| parse_duration(text).filter(|duration| *duration > Duration::ZERO);
    let cost = |text: &str| text.parse::<f64>().ok().filter(|cost| cost.is_finite() && *cost > 0.0);
    read_limit("iterations", "an integer of at least 1", number, &mut limits.iterations, &mut fields);
    read_limit("failures", "an integer of at least 1", number, &mut limits.failures, &mut fields);
    read_limit("stale", "an integer of at least 1", number, &mut limits.stale, &mut fields);
    read_limit("runtime", "a duration such as `30m` or `4h`", duration, &mut limits.runtime, &mut fields);
    read_limit("idle", "a duration such as `90s` or `5m`", duration, &mut limits.idle, &mut fields);
    read_limit("tokens", "a number such as `200K` or `5M`", parse_tokens, &mut limits.tokens, &mut fields);
    read_limit("cost_usd", "an amount in dollars such as `20` or `0.5`", cost, &mut limits.cost_usd, &mut fields);
    loop_fields.problems.append(&mut fields.problems);
    limits
}

fn read_limit<T>(
    key: &str,
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
    limit: &mut Option<T>,
    fields: &mut Fields,
) {
    let Some(SpannedText { value, span }) = fields.text_or_number(key) else { return };
    if value == NO_LIMIT {
        *limit = None;
    } else if let Some(parsed) = parse(&value) {
        *limit = Some(parsed);
    } else {
        fields.refuse(
            DiagnosticKind::InvalidValue,
            format!("`{key}` must be {expected}, or `{NO_LIMIT}`, not `{value}`"),
            span,
        );
    }
}

fn parse_tokens(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let multiplier = match text.get(digits.len()..).unwrap_or_default() {
        "" => 1,
        "K" | "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(multiplier).filter(|tokens| *tokens > 0)
}
