//! `file_rules` as a gate.

use insta::assert_snapshot;
use serde_json::json;

use crate::project;

#[test]
fn file_rules_as_a_gate() {
    let scratch = project();
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.file("src/a.rs", "a").file("tests/a_test.rs", "a");
    scratch.git(&["add", "."]);
    scratch.git(&["commit", "-q", "-m", "first"]);
    scratch
        .rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}_test.rs']\nattribute: tree\n---\nChange both.\n");
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [pairing]}], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    scratch.run(&["start", "work"]);
    scratch.file("src/a.rs", "b");
    assert_snapshot!(scratch.run(&["next"]).transcript(), @r#"
    exit 1
    --- stdout
    Still at `code`: what has to hold before it can be left does not.

    - code/1: ## pairing
    src/a.rs → tests/a_test.rs

    Change both.

    Where `pairing` does not apply: `linchpin ack pairing --reason "…"`.
    --- stderr
    "#);
    scratch.file("tests/a_test.rs", "b");
    assert_eq!(scratch.run(&["next"]).code, Some(0));
}

#[test]
fn file_rules_as_a_gate_do_not_tire() {
    for key in ["action: warn", "max_holds: 0"] {
        let scratch = project();
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        scratch.rule("docs", &format!("---\ntrigger: 'src/**'\nsafety: README.md\n{key}\n---\nLook.\n"));
        scratch.file(
            ".linchpin/workflows/work.yml",
            "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [docs]}], transitions: [{when: \
             code_complete, to: done}]}\n",
        );
        scratch.run(&["start", "work"]);
        scratch.file("src/a.rs", "b");
        // Said once, and then no more.
        for said in [true, false] {
            let stop = scratch.hook("claude", &scratch.event("Stop", &json!({"stop_hook_active": false})));
            assert_eq!(stop.stdout.contains("Look."), said, "{key}: {}", stop.stdout);
        }
        assert_eq!(scratch.run(&["next"]).code, Some(1), "{key}");
        scratch.run(&["ack", "docs", "--reason", "no change of behaviour"]);
        assert_eq!(scratch.run(&["next"]).code, Some(0), "{key}");
    }
}

#[test]
fn a_gate_of_file_rules_stays_shut_where_git_cannot_say_what_changed() {
    let scratch = project();
    scratch.git(&["init", "--quiet", "--initial-branch=main"]);
    scratch.rule("pairing", "---\nset: [\"src/{path}.rs\", \"tests/{path}.rs\"]\n---\nChange the test too.\n");
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [pairing]}], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "--message=first"]);
    scratch.run(&["start", "work"]);
    scratch.git(&["config", "core.repositoryformatversion", "99"]);
    assert_snapshot!(scratch.run(&["next"]).transcript());
}

/// An agent writes a file, and `next` does not know from which session it is run.
#[test]
fn a_gate_of_file_rules_counts_all_changes_if_the_session_is_unknown() {
    let scratch = project();
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}_test.rs']\n---\nChange both.\n");
    let workflow = |gate: &str| {
        let text = format!(
            "start_node: code\nnodes:\n  code: {{prompt: Code., requires: [{gate}], transitions: [{{when: code_complete, to: \
             done}}]}}\n"
        );
        scratch.file(".linchpin/workflows/work.yml", text);
    };
    workflow("{file_rules: [pairing]}");
    scratch.git(&["add", "."]);
    scratch.git(&["commit", "-q", "-m", "first"]);
    scratch.run(&["start", "work"]);
    scratch.agent().edit("src/c.rs");
    scratch.file("src/c.rs", "b");
    assert_eq!(scratch.run(&["next"]).code, Some(1));
    workflow("\"file_rule_met('pairing')\"");
    assert_eq!(scratch.run(&["next"]).code, Some(1));
    scratch.file("tests/c_test.rs", "b");
    assert_eq!(scratch.run(&["next"]).code, Some(0));
}
