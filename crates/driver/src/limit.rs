//! Limits that end a run before its work is done.

use std::time::Duration;

use engine::hats::{Hat, RunLimits};
use engine::pace::format_times;
use work::RunUsage;

/// Returns the reason if the run has reached a limit.
pub fn run_limit_reached(limits: &RunLimits, spent: &RunUsage) -> Option<String> {
    let RunLimits { iterations, runtime, tokens, cost_usd, .. } = limits;
    if let Some(limit) = iterations.filter(|limit| spent.iterations >= *limit) {
        let plural = if limit == 1 { "" } else { "s" };
        return Some(format!("the limit of {limit} iteration{plural} is reached"));
    }
    if let Some(limit) = runtime.filter(|limit| elapsed(spent) >= *limit) {
        return Some(format!("the limit of {} is reached", format_duration(limit)));
    }
    if let (Some(limit), Some(used)) = (tokens, spent.tokens)
        && used.unsigned_abs() >= *limit
    {
        let plural = if *limit == 1 { "" } else { "s" };
        return Some(format!("the limit of {limit} token{plural} is reached ({used} used)"));
    }
    if let (Some(limit), Some(cost)) = (cost_usd, spent.cost_usd)
        && cost >= *limit
    {
        return Some(format!("the limit of ${limit} is reached (${cost:.2} spent)"));
    }
    None
}

/// Returns the reason if a hat has reached its limit.
pub fn hat_limit_reached(hat: &Hat, activations: u32) -> Option<String> {
    let limit = hat.max_activations.filter(|limit| activations >= *limit)?;
    Some(format!("the hat `{}` ran {}, which is its limit", hat.id, format_times(limit.into())))
}

/// Returns how long the run may still take; `None` if there is no limit.
pub fn time_left(limits: &RunLimits, spent: &RunUsage) -> Option<Duration> {
    limits.runtime.map(|limit| limit.saturating_sub(elapsed(spent)))
}

fn elapsed(spent: &RunUsage) -> Duration {
    // Negative if the clock was set back.
    Duration::from_millis(spent.time.max(0).unsigned_abs())
}

/// Formats a duration as `4h`, `1h 30m`, `20s` or `500ms`.
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect();
    if parts.is_empty() { format!("{}ms", duration.as_millis()) } else { parts.join(" ") }
}
