//! `linchpin status --metrics`: how often rules fired, and with which outcome.

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::TestProject;

use crate::{NO_DANGER, project};

fn metrics(project: &TestProject) -> String {
    let shown = project.run(&["status", "--metrics"]).stdout;
    shown.find("Metrics").map(|start| shown[start..].to_owned()).unwrap_or_default()
}

/// Returns the counts as `fired warned blocked acknowledged forced`.
fn counts(value: &Value) -> [u64; 5] {
    ["fired", "warned", "blocked", "acknowledged", "forced"].map(|key| value[key].as_u64().unwrap_or(99))
}

fn with_rules_and_workflow() -> TestProject {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.rule("hazard", "---\ncommand_pattern: ^hazard\naction: warn\n---\nMind the hazard.\n");
    project.rule("sure", "---\ncommand_pattern: ^hm\naction: ask\n---\nSure?\n");
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nclaims: [needs_rework]\nnodes:\n  code:\n    prompt: Code.\n    rules:\n      - {name: builds, \
         repeated_command: {pattern: '^make', threshold: 2, window: 600}}\n      - {name: quiet, repeated_command: {pattern: \
         '^never', threshold: 9, window: 600}}\n    transitions: [{when: code_complete, to: review}]\n  review: {prompt: \
         Review., transitions: [{when: needs_rework, to: code}, {when: review_complete, to: done}]}\n",
    );
    project
}

#[test]
fn without_events_metrics_are_empty() {
    let project = project();
    assert_snapshot!(metrics(&project), @"Metrics no rule has fired yet");
    assert_eq!(project.run(&["status", "--metrics", "--json"]).json()["metrics"], json!([]));
    assert_eq!(project.run(&["status", "--json"]).json()["metrics"], Value::Null);
}

#[test]
fn metrics_count_by_rule_and_phase() {
    let project = with_rules_and_workflow();
    let mut agent = project.agent();
    for command in ["danger", "hazard", "hm", "ls"] {
        agent.before(command);
    }
    project.run(&["start", "work"]);
    // The limit is two commands: the rule fires at the second command, and again at `linchpin next`.
    for _ in 0..3 {
        agent.run("make");
    }
    agent.before("danger");
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
    assert_eq!(agent.linchpin(&["continue"]).code, Some(0));
    // The second `linchpin continue` has nothing to acknowledge.
    assert_eq!(agent.linchpin(&["continue"]).code, Some(0));
    assert_eq!(agent.linchpin(&["next"]).code, Some(0));
    agent.before("danger");
    assert_eq!(agent.linchpin(&["next", "needs_rework"]).code, Some(0));
    agent.run("make");
    agent.run("make");
    assert_eq!(project.run(&["next", "--force", "builds"]).code, Some(0));
    assert_eq!(agent.linchpin(&["ack", "hazard", "--reason", "it is intended"]).code, Some(0));
    assert_snapshot!(metrics(&project), @"
    Metrics                                fired  warned blocked     ack  forced
      hazard                                   1       1       0       1       0
        outside workflows                      1       1       0       0       0
        work 1.4 at review                     0       0       0       1       0
      no-danger                                3       0       3       0       0
        outside workflows                      1       0       1       0       0
        work 1.1 at code                       1       0       1       0       0
        work 1.2 at review                     1       0       1       0       0
      sure                                     1       0       0       0       0
        outside workflows                      1       0       0       0       0
      work/code/builds                         3       2       1       1       1
        work 1.1 at code                       2       1       1       1       0
        work 1.3 at code                       1       1       0       0       1
    ");
    let json = project.run(&["status", "--metrics", "--json"]).json();
    let builds =
        json["metrics"].as_array().and_then(|rules| rules.iter().find(|rule| rule["rule"] == "work/code/builds"));
    let builds = builds.expect("the rule fired");
    assert_eq!(counts(builds), [3, 2, 1, 1, 1]);
    assert_eq!(
        builds["phases"][1],
        json!({"workflow": "work", "node": "code", "phase": "1.3", "fired": 1, "warned": 1, "blocked": 0, "acknowledged": 0,
               "forced": 1})
    );
}

#[test]
fn verdicts_in_observe_mode_are_not_counted_as_blocks() {
    let project = with_rules_and_workflow();
    project.config("mode: observe\n");
    project.run(&["trust", "--yes"]);
    let mut agent = project.agent();
    agent.before("danger");
    let json = project.run(&["status", "--metrics", "--json"]).json();
    assert_eq!((json["mode"].as_str(), counts(&json["metrics"][0])), (Some("observe"), [1, 0, 0, 0, 0]), "{json}");
}

#[test]
fn concurrent_events_are_all_counted() {
    let project = with_rules_and_workflow();
    // With a short deadline, the events of hooks that wait for each other would not be recorded.
    project.config("deadline: 20s\n");
    project.run(&["start", "work"]);
    std::thread::scope(|scope| {
        for session in ["a", "b", "c", "d"] {
            let project = &project;
            scope.spawn(move || {
                let mut agent = project.agent_session(session);
                for _ in 0..5 {
                    agent.before("danger");
                }
            });
        }
    });
    let json = project.run(&["status", "--metrics", "--json"]).json();
    assert_eq!(counts(&json["metrics"][0]), [20, 0, 20, 0, 0], "{json}");
    assert_eq!(json["metrics"][0]["phases"].as_array().map(Vec::len), Some(1));
}

/// An unmet file rule in a gate counts as fired and blocked, once for each refused move.
#[test]
fn a_file_rule_blocks_at_a_gate() {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.file("src/a.rs", "a").file("tests/a_test.rs", "a");
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "first"]);
    project
        .rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}_test.rs']\nattribute: tree\n---\nChange both.\n");
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code:\n    prompt: Code.\n    requires: [{file_rules: [pairing]}, {file_rules: [pairing]}]\n    transitions: [{when: code_complete, to: done}]\n",
    );
    project.run(&["start", "work"]);
    project.file("src/a.rs", "b");
    assert_eq!(project.run(&["next"]).code, Some(1));
    assert_eq!(project.run(&["next"]).code, Some(1));
    project.file("tests/a_test.rs", "b");
    assert_eq!(project.run(&["next"]).code, Some(0));
    assert_snapshot!(metrics(&project), @"
    Metrics                                fired  warned blocked     ack  forced
      pairing                                  2       0       2       0       0
        work 1.1 at code                       2       0       2       0       0
    ");
}
