//! Workflows whose file or journal changes or breaks while they are active.

use insta::assert_snapshot;
use serde_json::json;

use super::{BUILDS, two_nodes, with_rules, with_workflow};

#[test]
fn a_workflow_that_changed_under_way() {
    let scratch = with_rules(BUILDS);
    scratch.run(&["start", "work"]);
    let file = ".linchpin/workflows/work.yml";
    scratch.file(
        file,
        "start_node: other\nnodes:\n  other: {prompt: Other., transitions: [{when: other_complete, to: done}]}\n",
    );
    assert_snapshot!(scratch.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: workflow `work` has no node `code`
    help: the nodes are other
    ");
    assert_snapshot!(scratch.run(&["continue", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"NodeNotFound","message":"workflow `work` has no node `code`","node":"code","help":"the nodes are other"}}
    --- stderr
    "#);
    scratch.file(file, "start_node: [");
    assert_snapshot!(scratch.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: workflow `work` is at `code` and cannot be moved, because its file has an error; its rules count as they last were: .linchpin/workflows/work.yml:1:13: invalid YAML: unclosed bracket '['
    help: mend the file (`linchpin validate` shows all that is wrong), or leave with `linchpin abort`
    ");
    assert_eq!(scratch.run(&["abort"]).code, Some(0));
}

#[test]
fn a_file_that_breaks_under_way_is_told() {
    let scratch = two_nodes("", "    rules: [{tools: [WebFetch], reason: Not now.}]");
    scratch.run(&["start", "work"]);
    let fetch = || scratch.hook("claude", &scratch.tool("WebFetch", &json!({"url": "https://example.com"})));
    assert_eq!(fetch().decision(), "deny");
    scratch.file(".linchpin/workflows/work.yml", "start_node: [");
    // It counts as it last was, and a new session is told.
    assert_eq!(fetch().decision(), "deny");
    let mut begin = scratch.event("SessionStart", &json!({"source": "startup"}));
    begin["session_id"] = json!("session-2");
    assert_snapshot!(scratch.hook("claude", &begin).stdout);
}

#[test]
fn a_journal_that_is_gone_is_told() {
    let scratch = two_nodes("", "    blocked_commands: [make]");
    scratch.run(&["start", "work"]);
    for side in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(scratch.root().join(format!(".linchpin/state.db{side}")));
    }
    let reply = scratch.hook("claude", &scratch.bash("make"));
    assert!(reply.stdout.contains("was made anew, and what it kept is gone"), "{}", reply.transcript());
}

#[test]
fn a_way_that_cannot_be_evaluated_is_told() {
    let scratch = with_workflow(
        "start_node: a\nvariables: {name: null}\nnodes:\n  a: {prompt: A., transitions: [{when: 'name + 1 > 1', to: b}, {when: \
         a_complete, to: done}]}\n  b: {prompt: B., transitions: [{when: b_complete, to: done}]}\n",
    );
    scratch.run(&["start", "work"]);
    assert_snapshot!(scratch.run(&["next"]).transcript());
}
