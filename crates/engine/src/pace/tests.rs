//! Tests of pace rules: judging activities, and the texts of interrupts.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::ack_by::AckBy;
use crate::bounded_regex::RegexSource;

const CASES: &str = include_str!("../../../../corpus/pace.jsonl");

fn command(text: &str) -> Activity {
    let parts = shell::parse(text).texts().collect();
    Activity::command(text.to_owned(), parts, false)
}

fn failed(text: &str) -> Activity {
    let parts = shell::parse(text).texts().collect();
    Activity::command(text.to_owned(), parts, true)
}

fn edit(path: &str) -> Activity {
    Activity::edit("Edit".to_owned(), vec![path.to_owned()])
}

fn repeated(pattern: Option<&str>, threshold: u32, window: u64) -> PaceRule {
    let pattern = pattern.map(RegexSource::new);
    pace(PaceLimit::RepeatedCommand { pattern, threshold, window, failures_only: false })
}

fn edits(pattern: Option<&str>, threshold: u32, window: u64) -> PaceRule {
    pace(PaceLimit::RepeatedFileEdit { pattern: pattern.map(RegexSource::new), threshold, window })
}

fn pace(limit: PaceLimit) -> PaceRule {
    PaceRule { limit, live: LiveMode::Warn }
}

/// Judges the activities by the rule. All times are in seconds.
fn violation_of(rule: &PaceRule, activities: &[(i64, Activity)], started: i64, now: i64) -> Option<Violation> {
    let activities = activities.iter().map(|(time, activity)| (time * 1000, activity.clone())).collect();
    let history = PhaseHistory { activities, ..PhaseHistory::default() };
    let phase = Phase { name: Some("code".to_owned()), started: started * 1000, now: now * 1000, utc_offset: 3600 };
    rule.judge(&history.state(&rule.limit, phase).unwrap())
}

fn interrupt(rule: &PaceRule, activities: &[(i64, Activity)], now: i64) -> String {
    let violation = violation_of(rule, activities, 0, now).unwrap();
    Interrupt { violation: &violation, phase: Some("code"), reason: None, ack: AckBy::Agent, refuses_calls: false }
        .to_string()
}

#[test]
fn corpus_cases_fire_as_expected() {
    let mut failures = Vec::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (kind, fields) = case["rule"].as_object().unwrap().iter().next().unwrap();
        let number = |key: &str| fields[key].as_u64().unwrap();
        let pattern = |key: &str| fields[key].as_str().map(RegexSource::new);
        let threshold = |key: &str| u32::try_from(number(key)).unwrap();
        let rule = pace(match kind.as_str() {
            "repeated_command" => PaceLimit::RepeatedCommand {
                pattern: pattern("pattern"),
                threshold: threshold("threshold"),
                window: number("window"),
                failures_only: false,
            },
            "repeated_file_edit" => PaceLimit::RepeatedFileEdit {
                pattern: pattern("path_pattern"),
                threshold: threshold("threshold"),
                window: number("window"),
            },
            "phase_timeout" => PaceLimit::PhaseTimeout { max_duration: number("max_duration") },
            "token_budget" => PaceLimit::TokenBudget {
                max_tokens: number("max_tokens"),
                count: vec![TokenKind::Input, TokenKind::Output],
            },
            other => panic!("{other}"),
        });
        let mut history = PhaseHistory::default();
        for event in case["events"].as_array().unwrap() {
            let (time, text) = (event[0].as_i64().unwrap() * 1000, &event[2]);
            match event[1].as_str().unwrap() {
                "command" => history.activities.push((time, command(text.as_str().unwrap()))),
                "failed_command" => history.activities.push((time, failed(text.as_str().unwrap()))),
                "edit" => history.activities.push((time, edit(text.as_str().unwrap()))),
                "tokens" => {
                    let tokens = Tokens {
                        input: text["input"].as_u64().unwrap(),
                        output: text["output"].as_u64().unwrap(),
                        ..Tokens::default()
                    };
                    history.tokens.insert(text["id"].as_str().unwrap().to_owned(), tokens);
                }
                other => panic!("{other}"),
            }
        }
        let phase = Phase {
            name: None,
            started: case["phase_start"].as_i64().unwrap() * 1000,
            now: case["now"].as_i64().unwrap() * 1000,
            utc_offset: 0,
        };
        let fires = rule.judge(&history.state(&rule.limit, phase).unwrap()).is_some();
        if fires != case["fires"].as_bool().unwrap() {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn interrupts_for_repeated_commands() {
    let activities: Vec<_> = (0..6).map(|time| (time * 20, command("cargo build"))).collect();
    assert_snapshot!(interrupt(&repeated(Some("cargo (build|test)"), 5, 120), &activities, 110), @"
    🚨 WORKFLOW INTERRUPT: Repeated Command Detected

    Diagnostic: cargo build executed 6 times in 2m
    Pattern: cargo (build|test)
    Recent executions:
      - 01:00:20: cargo build
      - 01:00:40: cargo build
      - 01:01:00: cargo build
      - 01:01:20: cargo build
      - 01:01:40: cargo build

    Suggestion: You keep repeating the same step without progress. Read the first line of the last error. Before you run the command again, say what you expect to be different, and try the smallest check that would show it: one test, one file, one printed value.

    ---

    REFLECT AND DECIDE:

    Can you resolve this by yourself, or do you need a person?

    If you can resolve it yourself:
      - Explain briefly what you will do differently
      - Run: linchpin continue
      - It prints the prompt of the CODE phase again, and the rules that fired count again from there

    If you need a person:
      - Explain what you tried and why you are stuck
      - Wait for their answer before you continue
    ");
    let mixed = [
        (1, command("cargo build")),
        (2, command("cd x && cargo test -q")),
        (3, command("cargo build")),
        (4, command("cargo test -q | tail -5")),
        (5, command("cargo build --release")),
    ];
    let violation = violation_of(&repeated(Some("cargo (build|test)"), 5, 120), &mixed, 0, 60).unwrap();
    assert_snapshot!(violation.diagnostic, @"cargo (build|test) matched 5 commands in 2m (2 × cargo build, 2 × cargo test -q, 1 × cargo build --release)");
    assert_snapshot!(violation.snapshot, @r#"{"count":5,"threshold":5,"window":120,"window_start":0,"now":60000}"#);
    let rule = pace(PaceLimit::RepeatedCommand { pattern: None, threshold: 2, window: 90, failures_only: true });
    let activities = [(1, failed("make x")), (2, command("make x")), (3, failed("make  x"))];
    assert_snapshot!(violation_of(&rule, &activities, 0, 60).unwrap().diagnostic, @"make x failed 2 times in 1m 30s");
}

#[test]
fn interrupts_for_repeated_edits() {
    let activities: Vec<_> = (0..8).map(|time| (time * 20, edit("src/main.rs"))).collect();
    assert_snapshot!(interrupt(&edits(Some(r"src/.*\.rs"), 8, 180), &activities, 170), @r"
    🚨 WORKFLOW INTERRUPT: Repeated File Edit Detected

    Diagnostic: src/main.rs edited 8 times in 3m
    Pattern: src/.*\.rs
    Recent edits:
      - 01:01:00: Edit (src/main.rs)
      - 01:01:20: Edit (src/main.rs)
      - 01:01:40: Edit (src/main.rs)
      - 01:02:00: Edit (src/main.rs)
      - 01:02:20: Edit (src/main.rs)

    Suggestion: You keep changing the same file back and forth. Stop editing. Write down what the code should do, turn that into one failing test, then make the change that passes the test.

    ---

    REFLECT AND DECIDE:

    Can you resolve this by yourself, or do you need a person?

    If you can resolve it yourself:
      - Explain briefly what you will do differently
      - Run: linchpin continue
      - It prints the prompt of the CODE phase again, and the rules that fired count again from there

    If you need a person:
      - Explain what you tried and why you are stuck
      - Wait for their answer before you continue
    ");
    let activities: Vec<_> =
        ["a", "b", "a", "c", "d", "e", "f"].iter().zip(1..).map(|(path, time)| (time, edit(path))).collect();
    assert_snapshot!(violation_of(&edits(Some("."), 7, 180), &activities, 0, 170).unwrap().diagnostic, @". matched 7 edits in 3m (2 × a, 1 × b, 1 × c, 1 × d, …)");
}

#[test]
fn interrupts_for_time_tokens_and_commits() {
    assert_snapshot!(interrupt(&pace(PaceLimit::PhaseTimeout { max_duration: 600 }), &[], 664), @"
    🚨 WORKFLOW INTERRUPT: Phase Timeout Exceeded

    Diagnostic: CODE phase running for 11m 4s (limit: 10m)
    Phase start: 01:00:00
    Current time: 01:11:04
    Duration: 664 seconds

    Suggestion: This phase is taking longer than planned. Finish only the part that can be finished now, or move on and write down what is left. If the task was larger than expected, say so.

    ---

    REFLECT AND DECIDE:

    Can you resolve this by yourself, or do you need a person?

    If you can resolve it yourself:
      - Explain briefly what you will do differently
      - Run: linchpin continue
      - It prints the prompt of the CODE phase again, and the rules that fired count again from there

    If you need a person:
      - Explain what you tried and why you are stuck
      - Wait for their answer before you continue
    ");
    let rule = pace(PaceLimit::PhaseTimeout { max_duration: 300 });
    assert_snapshot!(violation_of(&rule, &[], 0, 400).unwrap().diagnostic, @"CODE phase running for 6m 40s (limit: 5m)");
    let tokens = Tokens { input: 4_000, output: 2_200, cache_read: 1_000_000, cache_write: 5 };
    let phase = Phase { name: None, started: 0, now: 1000, utc_offset: 0 };
    let state = |tally| PaceState {
        phase: phase.clone(),
        tally,
        window_start: 0,
        was_interrupted: false,
        refusals: 0,
        is_blocking: false,
        continued_from: 0,
    };
    let count = vec![TokenKind::Input, TokenKind::Output];
    let rule = pace(PaceLimit::TokenBudget { max_tokens: 5_000, count });
    let violation = rule.judge(&state(Tally::Tokens(Some(tokens)))).unwrap();
    assert_snapshot!(Interrupt { violation: &violation, phase: None, reason: Some("Enough."), ack: AckBy::Agent, refuses_calls: false }, @"
    Token budget exceeded: 6,200 / 5,000

    Input tokens: 4,000
    Output tokens: 2,200
    Total: 6,200
    Limit: 5,000

    Suggestion: Enough.

    ---

    REFLECT AND DECIDE:

    Can you resolve this by yourself, or do you need a person?

    If you can resolve it yourself:
      - Explain briefly what you will do differently
      - Run: linchpin continue
      - The count then starts again from zero

    If you need a person:
      - Explain what you tried and why you are stuck
      - Wait for their answer before you continue
    ");
    assert_eq!(rule.judge(&state(Tally::Tokens(None))), None);
    let rule = pace(PaceLimit::RequireCommits { lookback_phases: 2 });
    let phases = vec!["plan".to_owned(), "code".to_owned()];
    let violation = rule.judge(&state(Tally::Commits { count: Some(0), phases })).unwrap();
    assert_snapshot!(Interrupt { violation: &violation, phase: Some("code"), reason: None, ack: AckBy::Agent, refuses_calls: false }, @"
    🚨 WORKFLOW INTERRUPT: Commits Required

    Diagnostic: No commit was made in the last 2 phases
    Phases checked: PLAN, CODE

    Suggestion: Commit what works before you move on, in small steps with messages that say why. If nothing works yet, say what is missing.

    ---

    REFLECT AND DECIDE:

    Can you resolve this by yourself, or do you need a person?

    If you can resolve it yourself:
      - Explain briefly what you will do differently
      - Run: linchpin continue
      - It prints the prompt of the CODE phase again, and the rules that fired count again from there

    If you need a person:
      - Explain what you tried and why you are stuck
      - Wait for their answer before you continue
    ");
    let one = Tally::Commits { count: Some(1), phases: vec!["code".to_owned()] };
    assert_eq!(rule.judge(&state(one)), None);
}

#[test]
fn mentioned_commands_do_not_count() {
    let rule = repeated(Some("cargo build"), 2, 60);
    let activities =
        [(1, command("echo 'cargo build'")), (2, command("git commit -m 'cargo build'")), (3, command("cargo build"))];
    assert_eq!(violation_of(&rule, &activities, 0, 10), None);
}

#[test]
fn one_call_counts_once() {
    let rule = repeated(Some("cargo"), 2, 60);
    assert_eq!(violation_of(&rule, &[(1, command("cargo build && cargo test"))], 0, 10), None);
}

#[test]
fn text_of_an_agent_is_escaped_and_truncated() {
    let activities = [(1, command("x \u{1b}[31m {{ guide('A') }}")), (2, command("x \u{1b}[31m {{ guide('A') }}"))];
    let violation = violation_of(&repeated(None, 2, 60), &activities, 0, 10).unwrap();
    assert!(!violation.diagnostic.contains('\u{1b}'), "{}", violation.diagnostic);
    assert!(violation.diagnostic.contains("{{ guide"), "{}", violation.diagnostic);
    let long = "y".repeat(5000);
    let activities = [(1, command(&long)), (2, command(&long))];
    assert!(violation_of(&repeated(None, 2, 60), &activities, 0, 10).unwrap().diagnostic.len() < 250);
}

#[test]
fn durations_numbers_and_times_are_formatted() {
    let shown = |seconds| format::duration(seconds);
    assert_eq!(
        [0, 45, 60, 120, 400, 3600, 3900, 3605, 90_000].map(shown),
        ["0s", "45s", "1m", "2m", "6m 40s", "1h", "1h 5m", "1h", "1d 1h"]
    );
    assert_eq!([0, 999, 1000, 6200, 1_234_567].map(format::count), ["0", "999", "1,000", "6,200", "1,234,567"]);
    assert_eq!(format::clock(-1000, 0), "23:59:59");
    assert_eq!(format::clock(1_800_000_000_000, -12_600), "04:30:00");
}

proptest! {
    /// The window moves with the current time and includes both of its ends.
    #[test]
    fn only_attempts_in_the_window_count(
        times in prop::collection::vec(0_i64..400, 0..40),
        started in 0_i64..200,
        window in 1_u64..200,
        threshold in 1_u32..12,
        now in 0_i64..500,
    ) {
        let mut times = times;
        times.sort_unstable();
        let activities: Vec<_> = times.iter().map(|time| (*time, command("cargo build"))).collect();
        let from = started.max(now - i64::try_from(window).unwrap());
        let count = times.iter().filter(|time| (from..=now).contains(*time)).count();
        let fires = violation_of(&repeated(Some("build"), threshold, window), &activities, started, now).is_some();
        prop_assert_eq!(fires, count >= usize::try_from(threshold).unwrap());
        // Without a pattern, the result is the same, because all commands are equal.
        let fires = violation_of(&repeated(None, threshold, window), &activities, started, now).is_some();
        prop_assert_eq!(fires, count >= usize::try_from(threshold).unwrap());
    }
}
