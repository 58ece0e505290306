//! The scenarios of the requirement, by number (1 and 12, which are about tokens, in `tokens.rs`), and what upstream did
//! wrong, by name.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::pace::timeless;
use crate::project;
use crate::workflow::{BUILDS, begin_phases_earlier, with_rules};

#[test]
fn scenario_2_repeated_command_without_a_pattern() {
    let scratch = with_rules("      - {type: repeated_command, threshold: 3, window: 60}");
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    for command in ["ls", "pwd", "ls", "ls", "ls"] {
        agent.run(command);
    }
    let told = agent.linchpin(&["next"]);
    assert_eq!(told.code, Some(3));
    assert!(told.stdout.contains("Diagnostic: ls executed 4 times in 1m\n"), "{}", told.stdout);
}

#[test]
fn scenario_3_a_phase_that_takes_too_long() {
    let scratch = with_rules("      - phase_timeout: {max_duration: 300}");
    scratch.run(&["start", "work"]);
    assert_eq!(scratch.run(&["next", "--json"]).json()["moved"], true);
    scratch.run(&["next", "needs_rework"]);
    begin_phases_earlier(&scratch, 400_000);
    let told = scratch.run(&["next"]);
    assert_eq!(told.code, Some(3));
    assert!(told.stdout.contains("Diagnostic: CODE phase running for 6m 40s (limit: 5m)\n"), "{}", told.stdout);
    assert!(told.stdout.contains("Duration: 400 seconds\n"), "{}", told.stdout);
}

#[test]
fn scenario_4_repeated_command_with_a_pattern() {
    let scratch = with_rules("      - repeated_command: {pattern: 'cargo (build|test)', threshold: 5, window: 120}");
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    for command in ["cargo build", "cargo test", "cargo fmt", "git status", "cargo build", "cargo test", "git status"] {
        agent.run(command);
    }
    assert_eq!(agent.linchpin(&["next", "--json"]).json()["moved"], true);
    agent.linchpin(&["next", "needs_rework"]);
    for command in ["cargo build", "cargo test", "cargo build", "cargo test", "cargo build"] {
        agent.run(command);
    }
    let told = agent.linchpin(&["next"]);
    let expected = "Diagnostic: cargo (build|test) matched 5 commands in 2m (3 × cargo build, 2 × cargo test)\n";
    assert!(told.stdout.contains(expected), "{}", told.stdout);
}

#[test]
fn scenario_5_file_edits_with_a_pattern() {
    let scratch = with_rules("      - repeated_file_edit: {path_pattern: 'src/.*\\.rs', threshold: 6, window: 180}");
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    for path in ["src/main.rs", "src/lib.rs", "README.md", "src/main.rs", "src/lib.rs", "src/main.rs"] {
        agent.edit(path);
    }
    assert_eq!(agent.linchpin(&["next", "--json"]).json()["interrupt"], Value::Null);
    agent.linchpin(&["next", "needs_rework"]);
    for path in [
        "src/main.rs",
        "src/lib.rs",
        "README.md",
        "src/main.rs",
        "src/lib.rs",
        "src/main.rs",
        "src/lib.rs",
        "src/main.rs",
    ] {
        agent.edit(path);
    }
    let told = agent.linchpin(&["next"]);
    assert!(told.stdout.contains("matched 7 edits in 3m (4 × src/main.rs, 3 × src/lib.rs)"), "{}", told.stdout);
}

#[test]
fn scenario_6_the_first_violation_in_the_listed_order_wins() {
    let scratch = with_rules(
        "      - token_budget: {max_tokens: 1000000}\n      - repeated_command: {pattern: make, threshold: 1, window: 60}\n      \
         - repeated_command: {pattern: '.', threshold: 1, window: 60}",
    );
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.run("make");
    assert_eq!(agent.linchpin(&["next", "--json"]).json()["interrupt"]["rule"], "work/code/2");
}

#[test]
fn scenarios_7_to_9_rules_that_are_wrong_are_refused_when_the_workflow_is_loaded() {
    for (rule, kind) in [
        ("repeated_command: {pattern: '[invalid(', threshold: 3, window: 60}", "InvalidRulePattern"),
        ("token_budget: {max_tokens: 0}", "InvalidRuleThreshold"),
        ("repeated_command: {threshold: 3, window: -10}", "InvalidRuleThreshold"),
        ("type: repeated_comand", "UnknownRuleType"),
    ] {
        let scratch = with_rules(&format!("      - {rule}"));
        let found = scratch.run(&["validate", "--json"]).json();
        let problem = &found["problems"][0];
        assert_eq!((&problem["kind"], &problem["node"]), (&json!(kind), &json!("code")), "{found}");
        let refused = scratch.run(&["start", "work"]);
        assert_eq!(refused.code, Some(2), "{}", refused.transcript());
    }
}

#[test]
fn scenario_10_from_failing_builds_to_the_next_phase() {
    let scratch = with_rules(BUILDS);
    assert_snapshot!(scratch.run(&["start", "work"]).transcript(), @"
    exit 0
    --- stdout
    Write the code.
    --- stderr
    now at `code` of `work`
    ");
    let mut agent = scratch.agent();
    for _ in 0..4 {
        agent.fail("cargo build");
    }
    let interrupted = agent.linchpin(&["next"]);
    assert_snapshot!(timeless(&interrupted.transcript()), @"
    exit 3
    --- stdout
    🚨 WORKFLOW INTERRUPT: Repeated Command Detected

    Diagnostic: cargo build executed 4 times in 10m
    Pattern: cargo (build|test)
    Recent executions:
      - HH:MM:SS: cargo build
      - HH:MM:SS: cargo build
      - HH:MM:SS: cargo build
      - HH:MM:SS: cargo build

    Suggestion: The same step keeps being taken, and its result does not move you on. Read the last error from its first line, say what you expect to be different before you run it again, and try the smallest thing that would show whether that is so: one test, one file, one printed value.

    ---

    REFLECT AND DECIDE:

    Can you resolve this by yourself, or do you need a person?

    If you can resolve it yourself:
      - Explain briefly what you will do differently
      - Run: linchpin continue
      - It returns the normal CODE phase prompt, past the rules this once

    If you need a person:
      - Explain what you tried, and why you are stuck
      - Wait for their answer before you go on
    --- stderr
    still at `code`, by rule `work/code/1`
    ");
    assert_eq!(interrupted.code, Some(3));
    let json = agent.linchpin(&["next", "--json", "{\"code_complete\": true}"]).json();
    assert_eq!(
        (&json["moved"], &json["node"], &json["interrupt"]["snapshot"]["count"]),
        (&json!(false), &json!("code"), &json!(4))
    );
    assert_eq!(json["interrupt"]["recent"].as_array().map(Vec::len), Some(4));
    assert_snapshot!(agent.linchpin(&["continue"]).transcript(), @"
    exit 0
    --- stdout
    Write the code.
    --- stderr
    ");
    agent.run("cargo build");
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 0
    --- stdout
    Review it.
    --- stderr
    now at `review` of `work`
    ");
    // A second visit starts clean.
    assert_eq!(agent.linchpin(&["next", "needs_rework"]).code, Some(0));
    agent.run("cargo build");
    agent.run("cargo build");
    assert_eq!(agent.linchpin(&["next"]).code, Some(0));
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 0
    --- stdout
    Workflow `work` is done. Nothing is active now.
    --- stderr
    ");
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no workflow is active here
    help: `linchpin workflows` lists them, and `linchpin start NAME` begins one
    ");
}

#[test]
fn scenario_11_without_rules_nothing_interrupts() {
    let scratch = with_rules("      []");
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    for _ in 0..20 {
        agent.fail("cargo build");
    }
    let moved = agent.linchpin(&["next"]);
    assert_eq!((moved.code, moved.stdout.as_str()), (Some(0), "Review it.\n"));
}

// What upstream did wrong, each by name.

/// The window slides with now; it is not anchored where the phase began.
#[test]
fn fault_a_loop_that_begins_late_is_seen() {
    let scratch = with_rules(BUILDS);
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.run("ls");
    begin_phases_earlier(&scratch, 700_000);
    for _ in 0..3 {
        agent.fail("cargo build");
    }
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
}

/// The rules of the phase that is being left are judged, not those of where it leads.
#[test]
fn fault_the_phase_that_is_left_is_judged() {
    let scratch = project();
    let rule = "rules: [{repeated_command: {pattern: make, threshold: 1, window: 600}}]";
    scratch.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: one\nnodes:\n  one: {{prompt: One., transitions: [{{when: one_complete, to: two}}]}}\n  \
             two: {{prompt: Two., {rule}, transitions: [{{when: two_complete, to: done}}]}}\n"
        ),
    );
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.run("make");
    assert_eq!(agent.linchpin(&["next"]).stdout, "Two.\n");
    agent.run("make");
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
}

/// Attempts that fail count as those that go well do.
#[test]
fn fault_failing_commands_count() {
    let scratch = with_rules(BUILDS);
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.fail("cargo build");
    agent.run("cargo build");
    agent.fail("cargo test");
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
}

/// The phase is this visit, not the first one.
#[test]
fn fault_a_second_visit_counts_for_itself() {
    let scratch = with_rules(BUILDS);
    scratch.run(&["start", "work"]);
    let mut agent = scratch.agent();
    agent.run("cargo build");
    agent.run("cargo build");
    assert_eq!(agent.linchpin(&["next"]).code, Some(0));
    agent.run("cargo build");
    assert_eq!(agent.linchpin(&["next", "needs_rework"]).code, Some(0));
    agent.run("cargo build");
    agent.run("cargo build");
    assert_eq!(agent.linchpin(&["next"]).code, Some(0));
    assert_eq!(agent.linchpin(&["next", "needs_rework"]).code, Some(0));
    for _ in 0..3 {
        agent.run("cargo build");
    }
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
}
