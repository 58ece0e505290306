//! Weakenings: changes of rules that make a policy milder.

use engine::Level;
use engine::pace::{LiveMode, PaceLimit, PaceRule};
use engine::rules::{AckBy, CommandMatcher, Detector, PathClause, Rule, ToolRule};
use serde::{Deserialize, Serialize};

use crate::config::PolicyMode;

/// A rule that was removed, has a milder action, or matches less than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weakening {
    pub rule: String,
    /// Digest of the old rule's text.
    pub from: String,
    /// Digest of the new rule's text; `None` if the rule was removed or switched off.
    pub to: Option<String>,
}

impl Weakening {
    /// The change from `mode: enforce` to `mode: observe`, which weakens every rule.
    pub fn mode_to_observe() -> Self {
        Self {
            rule: "mode".to_owned(),
            from: PolicyMode::Enforce.name().to_owned(),
            to: Some(PolicyMode::Observe.name().to_owned()),
        }
    }

    /// Describes the change for people.
    pub fn describe(&self) -> String {
        let rule = &self.rule;
        match &self.to {
            _ if *self == Self::mode_to_observe() => "`mode` changed to `observe`".to_owned(),
            Some(_) => format!("rule `{rule}` became milder"),
            None => format!("rule `{rule}` was removed or switched off"),
        }
    }
}

/// Returns the rules of `before` that are missing or milder in `now`, each with its old version. Both lists must be in
/// byte order of the ids.
pub fn weakenings<'a>(before: &'a [Rule], now: &[Rule]) -> Vec<(Weakening, &'a Rule)> {
    let mut weakenings = Vec::new();
    // A rule that only approves calls protects nothing, so removing it is not a weakening.
    for rule in before.iter().filter(|rule| rule.action > Level::Allow) {
        let now = now.binary_search_by(|now| now.id.cmp(&rule.id)).ok().and_then(|index| now.get(index));
        if now.is_none_or(|now| now.action < rule.action || is_weaker(now, rule)) {
            let to = now.map(|now| now.digest.clone());
            weakenings.push((Weakening { rule: rule.id.clone(), from: rule.digest.clone(), to }, rule));
        }
    }
    weakenings
}

/// True if the rule is weaker than before: it is judged on fewer events, has a new condition or narrower clauses, can
/// be acknowledged by agents, or gives up sooner.
fn is_weaker(now: &Rule, before: &Rule) -> bool {
    let is_on_fewer = !before.on.iter().all(|kind| now.on.contains(kind));
    let has_other_condition = now.when.is_some() && now.when != before.when;
    let lets_agents_acknowledge = before.ack == AckBy::Human && now.ack == AckBy::Agent;
    is_on_fewer
        || has_other_condition
        || lets_agents_acknowledge
        || now.on_error.unwrap_or(now.action) < before.on_error.unwrap_or(before.action)
        || now.max_holds_or_default() < before.max_holds_or_default()
        || match (&now.detect, &before.detect) {
            (Detector::Files(now), Detector::Files(before)) => !now.is_at_least_as_strict_as(before),
            (Detector::Tool(now), Detector::Tool(before)) => matches_fewer_calls(now, before),
            (Detector::Pace(now), Detector::Pace(before)) => is_milder_pace(now, before),
            (now, before) => std::mem::discriminant(now) != std::mem::discriminant(before),
        }
}

/// True if a tool rule matches fewer calls. Clauses are joined by `and`, so each added clause narrows the rule, and so
/// does each alternative that is removed from a clause. Two different regexes cannot be compared, except if one
/// contains the other literally.
fn matches_fewer_calls(now: &ToolRule, before: &ToolRule) -> bool {
    let (exceptions, before_exceptions) = (&now.command_regex.not_pattern, &before.command_regex.not_pattern);
    let has_other_exceptions = exceptions.is_some() && exceptions != before_exceptions;
    let finds_less = match (&now.command_regex.pattern, &before.command_regex.pattern) {
        (Some(now), Some(before)) => adds_literal_text(&now.regex, &before.regex),
        (now, before) => now.is_some() && before.is_none(),
    };
    let names_tools = |rule: &ToolRule| !rule.tools.is_empty() || !rule.mcp_tools.is_empty();
    let names_fewer_tools = names_tools(now)
        && (!names_tools(before) || !has_all(&now.tools, &before.tools) || !has_all(&now.mcp_tools, &before.mcp_tools));
    let is_covered = |before: &CommandMatcher| now.matchers.iter().any(|now| covers(now, before));
    let matches_less =
        !now.matchers.is_empty() && (before.matchers.is_empty() || !before.matchers.iter().all(is_covered));
    let names_fewer_branches = match (&now.rewrites, &before.rewrites) {
        (Some(now), Some(before)) => !has_all(&now.branches, &before.branches),
        (now, before) => now.is_some() && before.is_none(),
    };
    // Without `incomplete`, a rule asks if it is unknown whether the rule matches.
    let asks_less = now.incomplete.unwrap_or(Level::Ask) < before.incomplete.unwrap_or(Level::Ask);
    has_other_exceptions
        || asks_less
        || finds_less
        || names_fewer_tools
        || matches_less
        || names_fewer_branches
        || !cover_paths(&now.paths, &before.paths)
}

/// True if `now` matches every command that `before` matches, as far as a comparison of their lists shows.
fn covers(now: &CommandMatcher, before: &CommandMatcher) -> bool {
    is_at_least_as_wide(&now.program, &before.program)
        && is_at_least_as_wide(&now.subcommand, &before.subcommand)
        && is_at_least_as_wide(&now.flags_any, &before.flags_any)
        && has_all(&before.flags_all, &now.flags_all)
        && is_at_least_as_wide(&now.operands_any, &before.operands_any)
        && is_at_least_as_wide(&now.sets, &before.sets)
        && is_at_least_as_wide(&now.unsets, &before.unsets)
        && is_at_least_as_wide(&now.runs_output_of, &before.runs_output_of)
        && (now.interactive.is_none() || now.interactive == before.interactive)
        && cover_paths(&now.paths, &before.paths)
}

/// True if every path clause of `now` existed before, with no more patterns and no fewer exceptions.
fn cover_paths(now: &[PathClause], before: &[PathClause]) -> bool {
    now.iter().all(|now| {
        before.iter().any(|before| {
            now.key == before.key && has_all(&now.patterns, &before.patterns) && has_all(&before.except, &now.except)
        })
    })
}

/// True if a list of alternatives still has all of its old items. An empty list matches anything.
fn is_at_least_as_wide<T: PartialEq>(now: &[T], before: &[T]) -> bool {
    now.is_empty() || (!before.is_empty() && has_all(now, before))
}

fn has_all<T: PartialEq>(more: &[T], fewer: &[T]) -> bool {
    fewer.iter().all(|item| more.contains(item))
}

/// True if a pace rule fires later than before, counts fewer events, or no longer blocks.
fn is_milder_pace(now: &PaceRule, before: &PaceRule) -> bool {
    let fires_later = match (&now.limit, &before.limit) {
        (PaceLimit::PhaseTimeout { max_duration: now }, PaceLimit::PhaseTimeout { max_duration: before }) => {
            now > before
        }
        (
            PaceLimit::TokenBudget { max_tokens: now, count: kinds },
            PaceLimit::TokenBudget { max_tokens: before, count: counted },
        ) => now > before || !has_all(kinds, counted),
        (now, before) => match (now.repetition(), before.repetition()) {
            (Some((threshold, window)), Some((before_threshold, before_window))) => {
                let counts_less = matches!(
                    (now, before),
                    (
                        PaceLimit::RepeatedCommand { failures_only: true, .. },
                        PaceLimit::RepeatedCommand { failures_only: false, .. }
                    )
                );
                let is_other_pattern = now.pattern().is_some() && before.pattern().is_none();
                threshold > before_threshold || window < before_window || counts_less || is_other_pattern
            }
            _ => now != before,
        },
    };
    fires_later || (before.live == LiveMode::Block && now.live != LiveMode::Block)
}

/// True if `now` is narrower because literal text was added, around the old regex or before its trailing word boundary:
/// `git push( |$)` becomes `git push --force( |$)`.
fn adds_literal_text(now: &str, before: &str) -> bool {
    let is_literal = |character: char| character.is_alphanumeric() || " -_/=:,^$".contains(character);
    let [(now, now_end), (before, before_end)] = [now, before].map(split_word_boundary);
    match now.split_once(before) {
        Some(("", "")) => before_end.is_empty() && !now_end.is_empty(),
        Some((start, end)) => start.chars().chain(end.chars()).all(is_literal),
        None => false,
    }
}

/// Splits a regex before its trailing word boundary, such as `\b` or `( |$)`.
fn split_word_boundary(regex: &str) -> (&str, &str) {
    const BOUNDARIES: [&str; 6] = ["( |$)", r"(\s|$)", "(?: |$)", r"(?:\s|$)", r"\b", "$"];
    let before_boundary = BOUNDARIES.iter().find_map(|end| regex.strip_suffix(end)).unwrap_or(regex);
    regex.split_at(before_boundary.len())
}
