//! Each kind of error that work with pace rules and workflows may end in, as a person reads it.

use insta::assert_snapshot;
use serde_json::json;
use testkit::Scratch;

use crate::project;

/// A workflow whose only node has this rule.
fn with_rule(rule: &str) -> Scratch {
    let scratch = project();
    let node = format!("{{prompt: Code., rules: [{rule}], transitions: [{{when: code_complete, to: done}}]}}");
    scratch.file(".linchpin/workflows/work.yml", format!("start_node: code\nnodes:\n  code: {node}\n"));
    scratch
}

fn validated(rule: &str) -> String {
    with_rule(rule).run(&["validate"]).transcript()
}

fn runs(scratch: &Scratch, command: &str) -> testkit::Reply {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_1"});
    scratch.hook("claude", &scratch.event("PreToolUse", &call))
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
fn rules_that_never_say_anything() {
    let scratch = project();
    scratch.rule("commits", "---\nrequire_commits: {lookback_phases: 1}\n---\n");
    scratch.rule("quiet", "---\nrepeated_command: {threshold: 3, window: 1m}\nlive: off\n---\n");
    scratch.rule("loud", "---\nrepeated_command: {threshold: 3, window: 1m}\n---\n");
    assert_snapshot!(scratch.run(&["validate"]).transcript());
}

#[test]
fn claims_in_one_word() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nclaims: [tested]\nnodes: {code: {prompt: Code., transitions: [{when: code_complete and tested, to: done}]}}\n",
    );
    scratch.run(&["start", "work"]);
    assert_snapshot!(scratch.run(&["next", "code_complete,tested"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `code_complete,tested` is no claim of this workflow
    help: several claims are words of their own: `linchpin next code_complete tested`
    ");
    assert_snapshot!(scratch.run(&["next", "code_complete,nothing"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `code_complete,nothing` is no claim of this workflow
    help: the claims are code_complete, tested
    ");
    assert_eq!(scratch.run(&["next", "code_complete", "tested"]).code, Some(0));
}

#[test]
fn no_workflow_loaded() {
    for command in ["next", "continue"] {
        assert_snapshot!(project().run(&[command, "--json"]).transcript());
    }
}

#[test]
fn node_not_found() {
    let scratch = with_rule("{phase_timeout: {max_duration: 60}}");
    assert_snapshot!(scratch.run(&["start", "work", "cod"]).transcript());
    scratch.run(&["start", "work"]);
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: a\nnodes:\n  a: {prompt: A., transitions: [{when: a_complete, to: done}]}\n",
    );
    for command in ["next", "continue"] {
        assert_snapshot!(scratch.run(&[command]).transcript());
    }
}

#[test]
fn regex_match_failed() {
    let scratch =
        with_rule("{repeated_command: {pattern: '(?:(x+)\\1?)+(?=y)', threshold: 3, window: 60}, live: block}");
    scratch.run(&["start", "work"]);
    assert_snapshot!(runs(&scratch, &format!("make {} y", "x".repeat(60))).transcript());
}

#[test]
fn metric_access_failed() {
    let scratch = with_rule("{repeated_command: {threshold: 1, window: 60}, live: off}");
    scratch.run(&["start", "work"]);
    runs(&scratch, "make");
    let holder = rusqlite::Connection::open(scratch.root().join(".linchpin/state.db")).expect("the journal");
    holder.execute_batch("BEGIN EXCLUSIVE").expect("the lock");
    assert_snapshot!(scratch.run(&["next", "--json"]).transcript());
    holder.execute_batch("ROLLBACK").expect("an end");
    assert_eq!(scratch.run(&["next"]).code, Some(3));
}

/// Where it cannot be told whether it was too much, nothing moves, unless the rule says otherwise or a person passes over it.
#[test]
fn a_pace_rule_that_cannot_be_judged_at_a_move() {
    let rule = "{name: builds, repeated_command: {threshold: 1, window: 60}, live: off}";
    let unreadable = |rule: &str| {
        let scratch = with_rule(rule);
        scratch.run(&["start", "work"]);
        runs(&scratch, "make");
        let journal = rusqlite::Connection::open(scratch.root().join(".linchpin/state.db")).expect("the journal");
        // What is there is no text.
        let damage = "UPDATE state SET name = CAST(CAST(name AS BLOB) || x'ff' AS TEXT) WHERE kind = 'counted'";
        assert_eq!(journal.execute(damage, []).expect("a row"), 1);
        scratch
    };
    let scratch = unreadable(rule);
    assert_snapshot!(scratch.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `work/code/builds` cannot be judged: what was counted cannot be read: the journal failed
    help: nothing was moved; a person can pass over the rule: `linchpin next --force work/code/builds`
    ");
    assert_eq!(scratch.run(&["next", "--json"]).json()["error"]["kind"], "MetricAccessFailed");
    assert_eq!(scratch.run(&["next", "--force", "builds"]).code, Some(0));
    let scratch = unreadable(&rule.replace("live", "on_error: warn, live"));
    assert_eq!(scratch.run(&["next"]).code, Some(0));
}
