//! Compares counts with limits and writes the texts about violations.

use serde_json::{Value, json};

use super::format::{clock, count, duration, times};
use super::pace_rule::TokenKind;
use super::{Attempt, PaceLimit, PaceRule, PaceState, Phase, Tally, Tokens};

/// The violation of a limit, with the texts that describe the violation.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The key of the limit in a rule's file.
    pub limit: &'static str,
    /// The title of the interrupt, which is shown only in a workflow.
    pub title: &'static str,
    /// What happened, in one line that is understandable without the title.
    pub headline: String,
    /// What happened, in one line below the title.
    pub diagnostic: String,
    /// The lines below the diagnostic.
    pub details: Vec<String>,
    pub suggestion: &'static str,
    /// The latest attempts, oldest first, each formatted as a line.
    pub recent: Vec<String>,
    /// The numbers of the violation as JSON, for programs.
    pub snapshot: Value,
}

/// The maximum number of attempts that are shown.
const MAX_ATTEMPTS_SHOWN: usize = 5;
/// The words after an amount that is counted from the last `linchpin continue`.
pub(super) const SINCE_CONTINUE: &str = "since `linchpin continue`";
/// The maximum number of different commands or paths in a diagnostic.
const MAX_TEXTS_SHOWN: usize = 4;
/// The maximum number of bytes of a command or path that are shown.
const TEXT_LIMIT: usize = 160;

impl PaceRule {
    /// Returns the violation; `None` if there is none or the count is unknown. A limit on repetition is violated when the
    /// count reaches the limit, a limit on time or tokens when the amount exceeds the limit, and
    /// [`PaceLimit::RequireCommits`] when there is no commit.
    pub fn judge(&self, state: &PaceState) -> Option<Violation> {
        let phase = &state.phase;
        match (&self.limit, &state.tally) {
            (
                PaceLimit::RepeatedCommand { threshold, window, .. }
                | PaceLimit::RepeatedFileEdit { threshold, window, .. },
                Tally::Attempts(attempts),
            ) => {
                let is_reached = attempts.len() >= usize::try_from(*threshold).unwrap_or(usize::MAX);
                is_reached.then(|| self.repetition(attempts, *threshold, *window, state))
            }
            (PaceLimit::PhaseTimeout { max_duration }, Tally::Time) => {
                timeout(*max_duration, state.continued_from, phase)
            }
            (PaceLimit::TokenBudget { max_tokens, count }, Tally::Tokens(Some(tokens))) => {
                budget(*max_tokens, state.continued_from, count, tokens)
            }
            (PaceLimit::RequireCommits { .. }, Tally::Commits { count: Some(0), phases }) => Some(no_commit(phases)),
            _ => None,
        }
    }

    fn repetition(&self, attempts: &[Attempt], threshold: u32, window: u64, state: &PaceState) -> Violation {
        let is_command = matches!(self.limit, PaceLimit::RepeatedCommand { .. });
        let texts = distinct_texts(attempts);
        let number = attempts.len();
        let within = duration(window);
        let verb = match &self.limit {
            PaceLimit::RepeatedCommand { failures_only: true, .. } => "failed",
            PaceLimit::RepeatedCommand { .. } => "executed",
            _ => "edited",
        };
        let (headline, diagnostic) = if let [(text, _)] = texts.as_slice() {
            let (text, count) = (one_line(text), times(u64::try_from(number).unwrap_or(u64::MAX)));
            let headline = match verb {
                "executed" => format!("Same command {count} in {within}: `{text}`"),
                "failed" => format!("Same command failed {count} in {within}: `{text}`"),
                _ => format!("Same file edited {count} in {within}: `{text}`"),
            };
            (headline, format!("{text} {verb} {count} in {within}"))
        } else {
            let noun = self.limit.repeated_noun().unwrap_or_default();
            let pattern = one_line(self.limit.pattern().unwrap_or_default());
            let listed =
                texts.iter().take(MAX_TEXTS_SHOWN).map(|(text, number)| format!("{number} × {}", one_line(text)));
            let more = if texts.len() > MAX_TEXTS_SHOWN { ", …" } else { "" };
            let listed: Vec<String> = listed.collect();
            let diagnostic = format!("{pattern} matched {number} {noun} in {within} ({}{more})", listed.join(", "));
            (diagnostic.clone(), diagnostic)
        };
        let offset = state.phase.utc_offset;
        let line = |attempt: &Attempt| match &attempt.tool {
            Some(tool) => format!("{}: {tool} ({})", clock(attempt.time, offset), one_line(&attempt.text)),
            None => format!("{}: {}", clock(attempt.time, offset), one_line(&attempt.text)),
        };
        let recent: Vec<String> = attempts.iter().skip(number.saturating_sub(MAX_ATTEMPTS_SHOWN)).map(line).collect();
        let mut details: Vec<String> =
            self.limit.pattern().map(|pattern| format!("Pattern: {}", one_line(pattern))).into_iter().collect();
        details.push(if is_command { "Recent executions:" } else { "Recent edits:" }.to_owned());
        details.extend(recent.iter().map(|line| format!("  - {line}")));
        Violation {
            limit: self.limit.name(),
            title: if is_command { "Repeated Command Detected" } else { "Repeated File Edit Detected" },
            headline,
            diagnostic,
            details,
            suggestion: if is_command { SAME_COMMAND } else { SAME_FILE },
            recent,
            snapshot: json!({
                "count": number, "threshold": threshold, "window": window,
                "window_start": state.window_start, "now": state.phase.now,
            }),
        }
    }
}

const SAME_COMMAND: &str = "You keep repeating the same step without progress. Read the first line of the last error. Before \
     you run the command again, say what you expect to be different, and try the smallest check that would show it: one \
     test, one file, one printed value.";
const SAME_FILE: &str = "You keep changing the same file back and forth. Stop editing. Write down what the code should do, \
     turn that into one failing test, then make the change that passes the test.";
const TOO_LONG: &str = "This phase is taking longer than planned. Finish only the part that can be finished now, or move on \
     and write down what is left. If the task was larger than expected, say so.";
const TOO_MUCH: &str = "This phase has used more tokens than planned. Narrow the scope, split the work, or stop reading and \
     decide with what you know.";
const UNCOMMITTED: &str = "Commit what works before you move on, in small steps with messages that say why. If nothing works \
     yet, say what is missing.";

/// Returns the distinct texts of the attempts with their counts, the most frequent first. Texts with equal counts stay
/// in the order of the attempts.
fn distinct_texts(attempts: &[Attempt]) -> Vec<(&str, usize)> {
    let mut texts: Vec<(&str, usize)> = Vec::new();
    for attempt in attempts {
        match texts.iter_mut().find(|(text, _)| *text == attempt.text) {
            Some((_, number)) => *number += 1,
            None => texts.push((&attempt.text, 1)),
        }
    }
    texts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    texts
}

/// Puts a text of an agent on one line, without control characters, and truncates the line.
fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    if line.len() <= TEXT_LIMIT {
        return line;
    }
    let end = (0..=TEXT_LIMIT).rev().find(|index| line.is_char_boundary(*index)).unwrap_or(0);
    format!("{}…", line.get(..end).unwrap_or_default())
}

/// Returns the violation of a time limit. `continued_from` is the elapsed time in seconds at the last
/// `linchpin continue`.
fn timeout(limit: u64, continued_from: u64, phase: &Phase) -> Option<Violation> {
    let elapsed = u64::try_from(phase.elapsed() / 1000).unwrap_or(0);
    let used = elapsed.saturating_sub(continued_from);
    if used <= limit {
        return None;
    }
    let subject =
        phase.name.as_ref().map_or_else(|| "Session".to_owned(), |name| format!("{} phase", name.to_uppercase()));
    let at = |time| clock(time, phase.utc_offset);
    let diagnostic = match continued_from {
        0 => format!("{subject} running for {} (limit: {})", duration(elapsed), duration(limit)),
        _ => format!(
            "{subject} running for {}, {} of it {SINCE_CONTINUE} (limit: {})",
            duration(elapsed),
            duration(used),
            duration(limit)
        ),
    };
    Some(Violation {
        limit: "phase_timeout",
        title: "Phase Timeout Exceeded",
        headline: diagnostic.clone(),
        diagnostic,
        details: vec![
            format!("Phase start: {}", at(phase.started)),
            format!("Current time: {}", at(phase.now)),
            format!("Duration: {elapsed} seconds"),
        ],
        suggestion: TOO_LONG,
        recent: Vec::new(),
        snapshot: json!({"elapsed": elapsed, "limit": limit.saturating_add(continued_from), "started": phase.started}),
    })
}

/// Returns the violation of a token limit. `continued_from` is the number of used tokens at the last
/// `linchpin continue`.
fn budget(limit: u64, continued_from: u64, kinds: &[TokenKind], tokens: &Tokens) -> Option<Violation> {
    let total = tokens.sum(kinds);
    let used = total.saturating_sub(continued_from);
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
    let since = if continued_from == 0 { String::new() } else { format!(" {SINCE_CONTINUE}") };
    details.push(format!("Limit: {}{since}", count(limit)));
    let diagnostic = format!("Token budget exceeded: {} / {}{since}", count(used), count(limit));
    Some(Violation {
        limit: "token_budget",
        title: "Token Budget Exceeded",
        headline: diagnostic.clone(),
        diagnostic,
        details,
        suggestion: TOO_MUCH,
        recent: Vec::new(),
        snapshot: json!({"input": tokens.input, "output": tokens.output, "total": total, "limit": limit.saturating_add(continued_from)}),
    })
}

fn no_commit(phases: &[String]) -> Violation {
    let names: Vec<String> = phases.iter().map(|name| name.to_uppercase()).collect();
    let diagnostic = match names.as_slice() {
        [] => "No commit was made in this session".to_owned(),
        [only] => format!("No commit was made in the {only} phase"),
        several => format!("No commit was made in the last {} phases", several.len()),
    };
    let details = if names.is_empty() { Vec::new() } else { vec![format!("Phases checked: {}", names.join(", "))] };
    Violation {
        limit: "require_commits",
        title: "Commits Required",
        headline: diagnostic.clone(),
        diagnostic,
        details,
        suggestion: UNCOMMITTED,
        recent: Vec::new(),
        snapshot: json!({"commits": 0, "phases": phases}),
    }
}
