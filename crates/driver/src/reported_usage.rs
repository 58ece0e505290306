//! Tokens and cost that agents report in their output.

use serde_json::Value;

/// The usage in the JSON events of an agent's output.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReportedUsage {
    pub tokens: Option<i64>,
    pub cost_usd: Option<f64>,
}

impl ReportedUsage {
    /// Adds the usage in an event. Claude Code and Gemini CLI report a total in their last event, `result`; Codex
    /// reports a number after each turn.
    pub fn add(&mut self, event: &Value) {
        self.cost_usd = event.get("total_cost_usd").and_then(Value::as_f64).or(self.cost_usd);
        let kind = event.get("type").and_then(Value::as_str);
        let Some(counts) = ["usage", "stats"].iter().find_map(|key| event.get(key)) else { return };
        let count = |name: &str| counts.get(name).and_then(Value::as_i64).filter(|count| *count >= 0);
        // Codex' `cached_input_tokens` are not added, because they are part of its `input_tokens`.
        let parts = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let sum = || parts.iter().filter_map(|part| count(part)).reduce(i64::saturating_add);
        if matches!(kind, Some("result" | "turn.completed"))
            && let Some(tokens) = count("total_tokens").or_else(sum)
        {
            self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(tokens));
        }
    }
}
