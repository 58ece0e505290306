//! Whether what was counted is too much, and how that is put.

use serde_json::{Value, json};

use super::format::{clock, count, duration, times};
use super::pace_rule::TokenKind;
use super::{Attempt, PaceLimit, PaceRule, PaceState, Phase, Tally, Tokens};

/// A limit that was reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// Which limit, by the name that rules use.
    pub limit: &'static str,
    pub title: &'static str,
    /// One line.
    pub diagnostic: String,
    /// What is shown below it, each a line.
    pub details: Vec<String>,
    pub suggestion: &'static str,
    /// The latest attempts, oldest first, as they are shown.
    pub recent: Vec<String>,
    /// The figures, for programs.
    pub snapshot: Value,
}

/// How many of the latest are shown.
const SHOWN: usize = 5;
/// Behind an amount that was counted from there.
pub(super) const SINCE_CONTINUE: &str = "since `linchpin continue`";
/// How many different ones are told apart.
const KINDS_SHOWN: usize = 4;
/// Bytes of a command or a path that are shown.
const TEXT_LIMIT: usize = 160;

impl PaceRule {
    /// `None`: it is not too much, or nobody can tell.
    pub fn judge(&self, standing: &PaceState) -> Option<Violation> {
        let phase = &standing.phase;
        match (&self.limit, &standing.tally) {
            (
                PaceLimit::RepeatedCommand { threshold, window, .. }
                | PaceLimit::RepeatedFileEdit { threshold, window, .. },
                Tally::Attempts(attempts),
            ) => {
                let is_reached = attempts.len() >= usize::try_from(*threshold).unwrap_or(usize::MAX);
                is_reached.then(|| self.repetition(attempts, *threshold, *window, standing))
            }
            (PaceLimit::PhaseTimeout { max_duration }, Tally::Time) => timeout(*max_duration, standing.passed, phase),
            (PaceLimit::TokenBudget { max_tokens, count }, Tally::Tokens(Some(tokens))) => {
                budget(*max_tokens, standing.passed, count, tokens)
            }
            (PaceLimit::RequireCommits { .. }, Tally::Commits { count: Some(0), phases }) => Some(no_commit(phases)),
            _ => None,
        }
    }

    fn repetition(&self, attempts: &[Attempt], threshold: u32, window: u64, standing: &PaceState) -> Violation {
        let is_command = matches!(self.limit, PaceLimit::RepeatedCommand { .. });
        let kinds = kinds(attempts);
        let number = attempts.len();
        let within = duration(window);
        let verb = match &self.limit {
            PaceLimit::RepeatedCommand { failures_only: true, .. } => "failed",
            PaceLimit::RepeatedCommand { .. } => "executed",
            _ => "edited",
        };
        let diagnostic = if let [(text, _)] = kinds.as_slice() {
            format!("{} {verb} {} in {within}", shown(text), times(u64::try_from(number).unwrap_or(u64::MAX)))
        } else {
            let what = self.limit.repeated().unwrap_or_default();
            let pattern = shown(self.limit.pattern().unwrap_or_default());
            let listed = kinds.iter().take(KINDS_SHOWN).map(|(text, number)| format!("{number} × {}", shown(text)));
            let more = if kinds.len() > KINDS_SHOWN { ", …" } else { "" };
            let listed: Vec<String> = listed.collect();
            format!("{pattern} matched {number} {what} in {within} ({}{more})", listed.join(", "))
        };
        let offset = standing.phase.utc_offset;
        let line = |attempt: &Attempt| match &attempt.tool {
            Some(tool) => format!("{}: {tool} ({})", clock(attempt.time, offset), shown(&attempt.text)),
            None => format!("{}: {}", clock(attempt.time, offset), shown(&attempt.text)),
        };
        let recent: Vec<String> = attempts.iter().skip(number.saturating_sub(SHOWN)).map(line).collect();
        let mut details: Vec<String> =
            self.limit.pattern().map(|pattern| format!("Pattern: {}", shown(pattern))).into_iter().collect();
        details.push(if is_command { "Recent executions:" } else { "Recent edits:" }.to_owned());
        details.extend(recent.iter().map(|line| format!("  - {line}")));
        Violation {
            limit: self.limit.name(),
            title: if is_command { "Repeated Command Detected" } else { "Repeated File Edit Detected" },
            diagnostic,
            details,
            suggestion: if is_command { SAME_COMMAND } else { SAME_FILE },
            recent,
            snapshot: json!({
                "count": number, "threshold": threshold, "window": window,
                "window_start": standing.since, "now": standing.phase.now,
            }),
        }
    }
}

const SAME_COMMAND: &str = "The same step keeps being taken, and its result does not move you on. Read the last error from its \
     first line, say what you expect to be different before you run it again, and try the smallest thing that would show \
     whether that is so: one test, one file, one printed value.";
const SAME_FILE: &str = "The same file keeps being changed back and forth. Stop editing. Write down what the code should do, put \
     it into one failing test, and then make the change that this test asks for.";
const TOO_LONG: &str = "This phase takes longer than it was meant to. Cut what is left to the part that can be finished now, or \
     move on and write down what is open; if the task was larger than it looked, say so.";
const TOO_MUCH: &str = "More was read and written than this phase was meant to take. Narrow the scope, split the work, or stop \
     reading and decide by what you know.";
const UNCOMMITTED: &str = "Commit what works, in small steps with messages that say why, before you move on. If nothing works \
     yet, say what is missing.";

/// Each different text with how often it comes; the most frequent first, then as they came.
fn kinds(attempts: &[Attempt]) -> Vec<(&str, usize)> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for attempt in attempts {
        match kinds.iter_mut().find(|(text, _)| *text == attempt.text) {
            Some((_, number)) => *number += 1,
            None => kinds.push((&attempt.text, 1)),
        }
    }
    kinds.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    kinds
}

/// Whatever an agent typed, as one line of data.
fn shown(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if line.len() <= TEXT_LIMIT {
        return line;
    }
    let end = (0..=TEXT_LIMIT).rev().find(|place| line.is_char_boundary(*place)).unwrap_or(0);
    format!("{}…", line.get(..end).unwrap_or_default())
}

/// `passed`: how long it had lasted when somebody last went on past the rule.
fn timeout(limit: u64, passed: u64, phase: &Phase) -> Option<Violation> {
    let elapsed = u64::try_from(phase.elapsed() / 1000).unwrap_or(0);
    let used = elapsed.saturating_sub(passed);
    if used <= limit {
        return None;
    }
    let what =
        phase.name.as_ref().map_or_else(|| "Session".to_owned(), |name| format!("{} phase", name.to_uppercase()));
    let at = |time| clock(time, phase.utc_offset);
    Some(Violation {
        limit: "phase_timeout",
        title: "Phase Timeout Exceeded",
        diagnostic: match passed {
            0 => format!("{what} running for {} (limit: {})", duration(elapsed), duration(limit)),
            _ => format!(
                "{what} running for {}, {} of it {SINCE_CONTINUE} (limit: {})",
                duration(elapsed),
                duration(used),
                duration(limit)
            ),
        },
        details: vec![
            format!("Phase start: {}", at(phase.started)),
            format!("Current time: {}", at(phase.now)),
            format!("Duration: {elapsed} seconds"),
        ],
        suggestion: TOO_LONG,
        recent: Vec::new(),
        snapshot: json!({"elapsed": elapsed, "limit": limit.saturating_add(passed), "started": phase.started}),
    })
}

/// `passed`: how many were used when somebody last went on past the rule.
fn budget(limit: u64, passed: u64, kinds: &[TokenKind], tokens: &Tokens) -> Option<Violation> {
    let total = tokens.sum(kinds);
    let used = total.saturating_sub(passed);
    if used <= limit {
        return None;
    }
    let names = [
        (TokenKind::Input, "Input tokens"),
        (TokenKind::Output, "Output tokens"),
        (TokenKind::CacheRead, "Tokens read from the cache"),
        (TokenKind::CacheWrite, "Tokens written to the cache"),
    ];
    let counted = names.iter().filter(|(kind, _)| kinds.contains(kind));
    let mut details: Vec<String> = counted.map(|(kind, name)| format!("{name}: {}", count(tokens.of(*kind)))).collect();
    details.push(format!("Total: {}", count(total)));
    let since = if passed == 0 { String::new() } else { format!(" {SINCE_CONTINUE}") };
    details.push(format!("Limit: {}{since}", count(limit)));
    Some(Violation {
        limit: "token_budget",
        title: "Token Budget Exceeded",
        diagnostic: format!("Token budget exceeded: {} / {}{since}", count(used), count(limit)),
        details,
        suggestion: TOO_MUCH,
        recent: Vec::new(),
        snapshot: json!({"input": tokens.input, "output": tokens.output, "total": total, "limit": limit.saturating_add(passed)}),
    })
}

fn no_commit(phases: &[String]) -> Violation {
    let names: Vec<String> = phases.iter().map(|name| name.to_uppercase()).collect();
    let diagnostic = match names.as_slice() {
        [] => "No commit was made in this session".to_owned(),
        [only] => format!("No commit was made in the {only} phase"),
        several => format!("No commit was made in the last {} phases", several.len()),
    };
    let details = if names.is_empty() { Vec::new() } else { vec![format!("Phases looked at: {}", names.join(", "))] };
    Violation {
        limit: "require_commits",
        title: "Commits Required",
        diagnostic,
        details,
        suggestion: UNCOMMITTED,
        recent: Vec::new(),
        snapshot: json!({"commits": 0, "phases": phases}),
    }
}
