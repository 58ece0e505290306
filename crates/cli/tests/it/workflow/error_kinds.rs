//! Every kind of error of pace rules and workflows, as a person reads it.

use insta::assert_snapshot;
use serde_json::json;
use testkit::TestProject;

use crate::project;

/// A project with a workflow whose only node has this rule.
fn with_rule(rule: &str) -> TestProject {
    let project = project();
    let node = format!("{{prompt: Code., rules: [{rule}], transitions: [{{when: code_complete, to: done}}]}}");
    project.file(".linchpin/workflows/work.yml", format!("start_node: code\nnodes:\n  code: {node}\n"));
    project
}

fn validated(rule: &str) -> String {
    with_rule(rule).run(&["validate"]).transcript()
}

fn call_hook(project: &TestProject, command: &str) -> testkit::ProcessOutput {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_1"});
    project.hook("claude", &project.event_payload("PreToolUse", &call))
}

#[test]
fn invalid_rule_pattern() {
    assert_snapshot!(validated("{repeated_command: {pattern: '[invalid(', threshold: 3, window: 60}}"));
}

#[test]
fn invalid_rule_threshold() {
    assert_snapshot!(validated("{repeated_command: {threshold: 0, window: 60}}"));
    assert_snapshot!(validated("{repeated_file_edit: {threshold: 3, window: -10}}"));
    assert_snapshot!(validated("{token_budget: {max_tokens: 0}}"));
}

#[test]
fn unknown_rule_type() {
    assert_snapshot!(validated("{type: repeated_comand, threshold: 3, window: 60}"));
}

#[test]
fn rules_that_never_fire_are_warned_about() {
    let project = project();
    project.rule("commits", "---\nrequire_commits: {lookback_phases: 1}\n---\n");
    project.rule("quiet", "---\nrepeated_command: {threshold: 3, window: 1m}\nlive: off\n---\n");
    project.rule("loud", "---\nrepeated_command: {threshold: 3, window: 1m}\n---\n");
    assert_snapshot!(project.run(&["validate"]).transcript());
}

#[test]
fn claims_joined_by_commas_are_an_error() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nclaims: [tested]\nnodes: {code: {prompt: Code., transitions: [{when: code_complete and tested, to: done}]}}\n",
    );
    project.run(&["start", "work"]);
    assert_snapshot!(project.run(&["next", "code_complete,tested"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: this workflow has no claim `code_complete,tested`
    help: write several claims as separate words: `linchpin next code_complete tested`
    ");
    assert_snapshot!(project.run(&["next", "code_complete,nothing"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: this workflow has no claim `code_complete,nothing`
    help: claims of this workflow: `code_complete`, `tested`
    ");
    assert_eq!(project.run(&["next", "code_complete", "tested"]).code, Some(0));
}

#[test]
fn no_workflow_loaded() {
    for command in ["next", "continue"] {
        assert_snapshot!(project().run(&[command, "--json"]).transcript());
    }
}

#[test]
fn node_not_found() {
    let project = with_rule("{phase_timeout: {max_duration: 60}}");
    assert_snapshot!(project.run(&["start", "work", "cod"]).transcript());
    project.run(&["start", "work"]);
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: a\nnodes:\n  a: {prompt: A., transitions: [{when: a_complete, to: done}]}\n",
    );
    for command in ["next", "continue"] {
        assert_snapshot!(project.run(&[command]).transcript());
    }
}

#[test]
fn regex_match_failed() {
    let project =
        with_rule("{repeated_command: {pattern: '(?:(x+)\\1?)+(?=y)', threshold: 3, window: 60}, live: block}");
    project.run(&["start", "work"]);
    assert_snapshot!(call_hook(&project, &format!("make {} y", "x".repeat(60))).transcript());
}

#[test]
fn metric_access_failed() {
    let project = with_rule("{repeated_command: {threshold: 1, window: 60}, live: off}");
    project.run(&["start", "work"]);
    call_hook(&project, "make");
    let other_connection = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
    other_connection.execute_batch("BEGIN EXCLUSIVE").expect("the lock");
    assert_snapshot!(project.run(&["next", "--json"]).transcript());
    other_connection.execute_batch("ROLLBACK").expect("an end");
    assert_eq!(project.run(&["next"]).code, Some(3));
}

/// If a pace rule cannot be evaluated, the move is refused, unless the rule's `on_error` allows the move or a person
/// skips the rule.
#[test]
fn a_pace_rule_that_cannot_be_judged_refuses_a_move() {
    let rule = "{name: builds, repeated_command: {threshold: 1, window: 60}, live: off}";
    let with_unreadable_counter = |rule: &str| {
        let project = with_rule(rule);
        project.run(&["start", "work"]);
        call_hook(&project, "make");
        let journal = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
        // This statement makes the name of the stored counter invalid UTF-8.
        let damage = "UPDATE state SET name = CAST(CAST(name AS BLOB) || x'ff' AS TEXT) WHERE kind = 'counted'";
        assert_eq!(journal.execute(damage, []).expect("a row"), 1);
        project
    };
    let project = with_unreadable_counter(rule);
    assert_snapshot!(project.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `work/code/builds` cannot be judged: the counters cannot be read: an SQL statement on the journal failed
    help: the workflow did not move; a person can skip the rule: `linchpin next --force work/code/builds`
    ");
    assert_eq!(project.run(&["next", "--json"]).json()["error"]["kind"], "MetricAccessFailed");
    assert_eq!(project.run(&["next", "--force", "builds"]).code, Some(0));
    let project = with_unreadable_counter(&rule.replace("live", "on_error: warn, live"));
    assert_eq!(project.run(&["next"]).code, Some(0));
}
