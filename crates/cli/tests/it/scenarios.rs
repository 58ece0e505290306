//! Pace rules in complete workflows, and regression tests of pace rules. Pace rules about tokens are tested in
//! `tokens.rs`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::pace::without_times;
use crate::project;
use crate::workflow::{BUILDS, begin_phases_earlier, with_rules};

#[test]
fn a_repeated_command_without_a_pattern_interrupts() {
    let project = with_rules("      - {type: repeated_command, threshold: 3, window: 60}");
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    for command in ["ls", "pwd", "ls", "ls", "ls"] {
        agent.run(command);
    }
    let reply = agent.linchpin(&["next"]);
    assert_eq!(reply.code, Some(3));
    assert!(reply.stdout.contains("Diagnostic: ls executed 4 times in 1m\n"), "{}", reply.stdout);
}

#[test]
fn a_phase_over_its_time_limit_interrupts() {
    let project = with_rules("      - phase_timeout: {max_duration: 300}");
    project.run(&["start", "work"]);
    assert_eq!(project.run(&["next", "--json"]).json()["moved"], true);
    project.run(&["next", "needs_rework"]);
    begin_phases_earlier(&project, 400_000);
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(3));
    assert!(reply.stdout.contains("Diagnostic: CODE phase running for 6m 40s (limit: 5m)\n"), "{}", reply.stdout);
    assert!(reply.stdout.contains("Duration: 400 seconds\n"), "{}", reply.stdout);
}

#[test]
fn commands_that_match_a_pattern_are_counted_together() {
    let project = with_rules("      - repeated_command: {pattern: 'cargo (build|test)', threshold: 5, window: 120}");
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    for command in ["cargo build", "cargo test", "cargo fmt", "git status", "cargo build", "cargo test", "git status"] {
        agent.run(command);
    }
    assert_eq!(agent.linchpin(&["next", "--json"]).json()["moved"], true);
    agent.linchpin(&["next", "needs_rework"]);
    for command in ["cargo build", "cargo test", "cargo build", "cargo test", "cargo build"] {
        agent.run(command);
    }
    let reply = agent.linchpin(&["next"]);
    let expected = "Diagnostic: cargo (build|test) matched 5 commands in 2m (3 × cargo build, 2 × cargo test)\n";
    assert!(reply.stdout.contains(expected), "{}", reply.stdout);
}

#[test]
fn file_edits_that_match_a_pattern_are_counted_together() {
    let project = with_rules("      - repeated_file_edit: {path_pattern: 'src/.*\\.rs', threshold: 6, window: 180}");
    project.run(&["start", "work"]);
    let mut agent = project.agent();
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
    let reply = agent.linchpin(&["next"]);
    assert!(reply.stdout.contains("matched 7 edits in 3m (4 × src/main.rs, 3 × src/lib.rs)"), "{}", reply.stdout);
}

#[test]
fn the_first_violation_in_the_listed_order_wins() {
    let project = with_rules(
        "      - token_budget: {max_tokens: 1000000}\n      - repeated_command: {pattern: make, threshold: 1, window: 60}\n      \
         - repeated_command: {pattern: '.', threshold: 1, window: 60}",
    );
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run("make");
    assert_eq!(agent.linchpin(&["next", "--json"]).json()["interrupt"]["rule"], "work/code/2");
}

#[test]
fn invalid_rules_are_refused_when_the_workflow_is_loaded() {
    for (rule, kind) in [
        ("repeated_command: {pattern: '[invalid(', threshold: 3, window: 60}", "InvalidRulePattern"),
        ("token_budget: {max_tokens: 0}", "InvalidRuleThreshold"),
        ("repeated_command: {threshold: 3, window: -10}", "InvalidRuleThreshold"),
        ("type: repeated_comand", "UnknownRuleType"),
    ] {
        let project = with_rules(&format!("      - {rule}"));
        let report = project.run(&["validate", "--json"]).json();
        let problem = &report["problems"][0];
        assert_eq!((&problem["kind"], &problem["node"]), (&json!(kind), &json!("code")), "{report}");
        let refused = project.run(&["start", "work"]);
        assert_eq!(refused.code, Some(2), "{}", refused.transcript());
    }
}

#[test]
fn an_interrupted_phase_continues_and_moves_on() {
    let project = with_rules(BUILDS);
    assert_snapshot!(project.run(&["start", "work"]).transcript(), @"
    exit 0
    --- stdout
    Write the code.
    --- stderr
    now at `code` of `work`
    ");
    let mut agent = project.agent();
    for _ in 0..4 {
        agent.run_failing("cargo build");
    }
    let interrupted = agent.linchpin(&["next"]);
    assert_snapshot!(without_times(&interrupted.transcript()), @"
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
    --- stderr
    still at `code`: pace rule `work/code/1` has fired
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
    // A second visit of the phase starts with new counts.
    assert_eq!(agent.linchpin(&["next", "needs_rework"]).code, Some(0));
    agent.run("cargo build");
    agent.run("cargo build");
    assert_eq!(agent.linchpin(&["next"]).code, Some(0));
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 0
    --- stdout
    Workflow `work` is done. No workflow is active now.
    --- stderr
    ");
    assert_snapshot!(agent.linchpin(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no workflow is active here
    help: `linchpin workflows` lists them, and `linchpin start NAME` starts one
    ");
}

#[test]
fn without_rules_nothing_interrupts() {
    let project = with_rules("      []");
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    for _ in 0..20 {
        agent.run_failing("cargo build");
    }
    let moved = agent.linchpin(&["next"]);
    assert_eq!((moved.code, moved.stdout.as_str()), (Some(0), "Review it.\n"));
}

// The tests below are regression tests.

/// The time window of `repeated_command` ends at the present time. It does not begin with the phase.
#[test]
fn repetition_late_in_a_phase_interrupts() {
    let project = with_rules(BUILDS);
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run("ls");
    begin_phases_earlier(&project, 700_000);
    for _ in 0..3 {
        agent.run_failing("cargo build");
    }
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
}

#[test]
fn a_move_is_judged_by_the_rules_of_the_phase_it_leaves() {
    let project = project();
    let rule = "rules: [{repeated_command: {pattern: make, threshold: 1, window: 600}}]";
    project.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: one\nnodes:\n  one: {{prompt: One., transitions: [{{when: one_complete, to: two}}]}}\n  \
             two: {{prompt: Two., {rule}, transitions: [{{when: two_complete, to: done}}]}}\n"
        ),
    );
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run("make");
    assert_eq!(agent.linchpin(&["next"]).stdout, "Two.\n");
    agent.run("make");
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
}

/// Commands that failed count as repetitions, like successful ones.
#[test]
fn failed_commands_count() {
    let project = with_rules(BUILDS);
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run_failing("cargo build");
    agent.run("cargo build");
    agent.run_failing("cargo test");
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
}

/// The commands of the first visit of a phase do not count in its second visit.
#[test]
fn each_visit_of_a_phase_is_counted_separately() {
    let project = with_rules(BUILDS);
    project.run(&["start", "work"]);
    let mut agent = project.agent();
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
