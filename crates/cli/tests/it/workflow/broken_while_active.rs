//! Workflows whose file or journal changes or breaks while they are active.

use insta::assert_snapshot;
use serde_json::json;

use super::{BUILDS, with_rules, with_two_nodes, with_workflow};

#[test]
fn a_changed_or_broken_active_workflow_is_an_error_at_a_move() {
    let project = with_rules(BUILDS);
    project.run(&["start", "work"]);
    let file = ".linchpin/workflows/work.yml";
    project.file(
        file,
        "start_node: other\nnodes:\n  other: {prompt: Other., transitions: [{when: other_complete, to: done}]}\n",
    );
    assert_snapshot!(project.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: workflow `work` has no node `code`
    help: nodes of this workflow: `other`
    ");
    assert_snapshot!(project.run(&["continue", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"NodeNotFound","message":"workflow `work` has no node `code`","node":"code","help":"nodes of this workflow: `other`"}}
    --- stderr
    "#);
    project.file(file, "start_node: [");
    assert_snapshot!(project.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: workflow `work` is at `code` and cannot move, because its file has an error; the last valid version of its rules is used: .linchpin/workflows/work.yml:1:13: invalid YAML: unclosed bracket '['
    help: fix the file (`linchpin validate` shows every error), or leave the workflow with `linchpin abort`
    ");
    assert_eq!(project.run(&["abort"]).code, Some(0));
}

#[test]
fn a_file_that_breaks_while_active_is_reported() {
    let project = with_two_nodes("", "    rules: [{tools: [WebFetch], reason: Not now.}]");
    project.run(&["start", "work"]);
    let fetch = || project.hook("claude", &project.tool_payload("WebFetch", &json!({"url": "https://example.com"})));
    assert_eq!(fetch().decision(), "deny");
    project.file(".linchpin/workflows/work.yml", "start_node: [");
    // The last good version of the workflow stays in force, and a new session gets a notice about the broken file.
    assert_eq!(fetch().decision(), "deny");
    let mut begin = project.event_payload("SessionStart", &json!({"source": "startup"}));
    begin["session_id"] = json!("session-2");
    assert_snapshot!(project.hook("claude", &begin).stdout);
}

#[test]
fn a_deleted_journal_is_reported() {
    let project = with_two_nodes("", "    blocked_commands: [make]");
    project.run(&["start", "work"]);
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(project.root().join(format!(".linchpin/state.db{suffix}")));
    }
    let reply = project.hook("claude", &project.bash_payload("make"));
    assert!(reply.stdout.contains("is new: the earlier one is gone"), "{}", reply.transcript());
}

#[test]
fn a_transition_that_cannot_be_evaluated_is_reported() {
    let project = with_workflow(
        "start_node: a\nvariables: {name: null}\nnodes:\n  a: {prompt: A., transitions: [{when: 'name + 1 > 1', to: b}, {when: \
         a_complete, to: done}]}\n  b: {prompt: B., transitions: [{when: b_complete, to: done}]}\n",
    );
    project.run(&["start", "work"]);
    assert_snapshot!(project.run(&["next"]).transcript());
}
