//! `linchpin continue`: acknowledges a pace rule that has fired.

use insta::assert_snapshot;
use serde_json::json;

use super::{BUILDS, begin_phases_earlier, change_position, with_rules};
use crate::pace::without_times;
use crate::project;

#[test]
fn live_block_refuses_calls_until_continue() {
    let project = with_rules(
        "      - repeated_command: {pattern: make, threshold: 2, window: 600}\n        live: block\n        reason: Think.",
    );
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run_failing("make");
    agent.run_failing("make");
    let refused = agent.before("make");
    assert_eq!(refused.decision(), "deny");
    assert!(refused.reason().contains("It prints the prompt of the CODE phase again"), "{}", refused.reason());
    assert!(refused.reason().contains("Suggestion: Think.\n"), "{}", refused.reason());
    assert_eq!(agent.before("linchpin continue").decision(), "allow");
    assert_eq!(agent.linchpin(&["continue"]).stdout, "Write the code.\n");
    assert_eq!(agent.before("make").decision(), "allow");
}

#[test]
fn continue_outside_of_a_workflow_resets_the_session() {
    let project = project();
    project.rule("circles", "---\nrepeated_command: {pattern: make, threshold: 2, window: 600}\nlive: block\n---\n");
    let mut agent = project.agent();
    assert_eq!(agent.linchpin(&["continue"]).code, Some(2));
    agent.run_failing("make");
    agent.run_failing("make");
    assert_eq!(agent.before("make").decision(), "deny");
    assert_snapshot!(agent.linchpin(&["continue"]).transcript(), @"
    exit 0
    --- stdout
    The count of these rules starts again from zero: circles.
    --- stderr
    ");
    assert_eq!(agent.before("make").decision(), "allow");
    assert_eq!(agent.linchpin(&["continue"]).code, Some(2));
}

#[test]
fn only_a_person_may_continue_past_ack_human() {
    let project = with_rules("      - {type: repeated_command, threshold: 1, window: 60, ack: human}");
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run("make");
    assert_snapshot!(agent.linchpin(&["continue"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: only a person may continue past rule `work/code/1` (`ack: human`)
    help: tell the person what you tried and why you are stuck, ask them to run `linchpin continue`, and wait
    ");
    assert_snapshot!(without_times(&agent.linchpin(&["next"]).stdout), @"
    🚨 WORKFLOW INTERRUPT: Repeated Command Detected

    Diagnostic: make executed once in 1m
    Recent executions:
      - HH:MM:SS: make

    Suggestion: You keep repeating the same step without progress. Read the first line of the last error. Before you run the command again, say what you expect to be different, and try the smallest check that would show it: one test, one file, one printed value.

    ---

    REFLECT AND DECIDE:

    Only a person can let you continue past this rule.

      - Explain what you tried and why you are stuck
      - Say briefly what you would do differently
      - Ask them to run: linchpin continue
      - Wait for their answer before you continue
    ");
    assert_eq!(project.run(&["continue"]).code, Some(0));
}

#[test]
fn continue_before_a_rule_fires_does_not_replace_a_commit() {
    let project =
        with_rules("      - require_commits: {lookback_phases: 1}\n      - phase_timeout: {max_duration: 300}");
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "long ago"]);
    project.run(&["start", "work"]);
    assert_eq!(project.run(&["continue"]).code, Some(0));
    for _ in 0..2 {
        let reply = project.run(&["next"]);
        assert_eq!(reply.code, Some(3));
        assert!(reply.stdout.contains("No commit was made in the CODE phase"), "{}", reply.stdout);
    }
    assert_eq!(project.run(&["continue"]).code, Some(0));
    assert_eq!(project.run(&["next"]).stdout, "Review it.\n");
    // On the next visit of the phase, the rule fires again, although `linchpin continue` is run before that.
    project.run(&["next", "needs_rework"]);
    assert_eq!(project.run(&["continue"]).code, Some(0));
    assert_eq!(project.run(&["next"]).code, Some(3));
}

#[test]
fn continue_without_a_fired_rule_is_reported_and_resets_nothing() {
    let project = with_rules("      - phase_timeout: {max_duration: 300}");
    project.run(&["start", "work"]);
    assert_snapshot!(project.run(&["continue"]).transcript(), @"
    exit 0
    --- stdout
    No pace rule has fired at `code`, so there is nothing to continue past.
    Write the code.
    --- stderr
    ");
    begin_phases_earlier(&project, 310_000);
    assert_eq!(project.run(&["next"]).code, Some(3));
}

#[test]
fn continue_resets_the_time_of_a_phase() {
    let project = with_rules("      - {type: phase_timeout, max_duration: 300, live: off}");
    project.run(&["start", "work"]);
    begin_phases_earlier(&project, 400_000);
    // The rule is judged only at `linchpin next`, so it has not fired yet.
    let early = project.run(&["continue"]).stdout;
    assert!(early.starts_with("No pace rule has fired"), "{early}");
    assert_eq!(project.run(&["next"]).code, Some(3));
    assert_eq!(project.run(&["continue"]).stdout, "Write the code.\n");
    begin_phases_earlier(&project, 310_000);
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(3));
    assert!(reply.stdout.contains("Diagnostic: CODE phase running for 11m 5"), "{}", reply.stdout);
    assert_eq!(project.run(&["continue"]).stdout, "Write the code.\n");
    assert_eq!(project.run(&["next"]).stdout, "Review it.\n");
}

#[test]
fn usage_reset_by_an_earlier_version_stays_reset_until_the_next_move() {
    let project =
        with_rules("      - phase_timeout: {max_duration: 300}\n      - require_commits: {lookback_phases: 1}");
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "long ago"]);
    project.run(&["start", "work"]);
    begin_phases_earlier(&project, 400_000);
    // An earlier version of Linchpin stored these fields when `linchpin continue` was run.
    change_position(&project, |position| {
        position["continued"] = json!(1);
        position["is_past_totals"] = json!(true);
        position["is_past_commits"] = json!(true);
    });
    assert_eq!(project.run(&["next"]).stdout, "Review it.\n");
}

#[test]
fn continue_in_a_workflow_resets_rules_of_the_session_too() {
    let project = with_rules(BUILDS);
    project.rule("circles", "---\nrepeated_command: {pattern: make, threshold: 2, window: 600}\nlive: block\n---\n");
    project.run(&["start", "work"]);
    let mut agent = project.agent();
    agent.run_failing("make");
    agent.run_failing("make");
    assert_eq!(agent.before("make").decision(), "deny");
    assert_eq!(agent.linchpin(&["continue"]).stdout, "Write the code.\n");
    assert_eq!(agent.before("make").decision(), "allow");
}
