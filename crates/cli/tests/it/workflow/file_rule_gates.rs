//! Gates that require file rules to be met.

use insta::assert_snapshot;
use serde_json::json;

use crate::project;

#[test]
fn a_file_rule_gate_is_closed_until_the_rule_is_met() {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.file("src/a.rs", "a").file("tests/a_test.rs", "a");
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "first"]);
    project
        .rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}_test.rs']\nattribute: tree\n---\nChange both.\n");
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [pairing]}], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    project.run(&["start", "work"]);
    project.file("src/a.rs", "b");
    assert_snapshot!(project.run(&["next"]).transcript(), @r#"
    exit 1
    --- stdout
    Still at `code`: its gates are not met.

    - code/1: ## pairing
    src/a.rs → tests/a_test.rs

    Change both.

    If `pairing` does not apply, run `linchpin ack pairing --reason "…"`.
    --- stderr
    "#);
    project.file("tests/a_test.rs", "b");
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn a_file_rule_gate_ignores_max_holds_and_warn() {
    for key in ["action: warn", "max_holds: 0"] {
        let project = project();
        project.git(&["init", "-q", "-b", "main"]);
        project.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        project.rule("docs", &format!("---\ntrigger: 'src/**'\nsafety: README.md\n{key}\n---\nLook.\n"));
        project.file(
            ".linchpin/workflows/work.yml",
            "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [docs]}], transitions: [{when: \
             code_complete, to: done}]}\n",
        );
        project.run(&["start", "work"]);
        project.file("src/a.rs", "b");
        // The rule is reported at the first stop only.
        for is_reported in [true, false] {
            let stop = project.hook("claude", &project.event_payload("Stop", &json!({"stop_hook_active": false})));
            assert_eq!(stop.stdout.contains("Look."), is_reported, "{key}: {}", stop.stdout);
        }
        assert_eq!(project.run(&["next"]).code, Some(1), "{key}");
        project.run(&["ack", "docs", "--reason", "no change of behaviour"]);
        assert_eq!(project.run(&["next"]).code, Some(0), "{key}");
    }
}

#[test]
fn a_file_rule_gate_stays_closed_if_git_fails() {
    let project = project();
    project.git(&["init", "--quiet", "--initial-branch=main"]);
    project.rule("pairing", "---\nset: [\"src/{path}.rs\", \"tests/{path}.rs\"]\n---\nChange the test too.\n");
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [pairing]}], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--message=first"]);
    project.run(&["start", "work"]);
    project.git(&["config", "core.repositoryformatversion", "99"]);
    assert_snapshot!(project.run(&["next"]).transcript());
}

/// An agent has written a file, but Linchpin can't tell which session runs `linchpin next`.
#[test]
fn a_file_rule_gate_counts_all_changes_if_the_session_is_unknown() {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}_test.rs']\n---\nChange both.\n");
    let write_workflow = |gate: &str| {
        let text = format!(
            "start_node: code\nnodes:\n  code: {{prompt: Code., requires: [{gate}], transitions: [{{when: code_complete, to: \
             done}}]}}\n"
        );
        project.file(".linchpin/workflows/work.yml", text);
    };
    write_workflow("{file_rules: [pairing]}");
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "first"]);
    project.run(&["start", "work"]);
    project.agent().edit("src/c.rs");
    project.file("src/c.rs", "b");
    assert_eq!(project.run(&["next"]).code, Some(1));
    write_workflow("\"file_rule_met('pairing')\"");
    assert_eq!(project.run(&["next"]).code, Some(1));
    project.file("tests/c_test.rs", "b");
    assert_eq!(project.run(&["next"]).code, Some(0));
}

/// The agent's work is committed on the default branch, but Linchpin can't tell which session runs `linchpin next`.
#[test]
fn a_gate_of_file_rules_counts_commits_since_the_workflow_began_if_the_session_is_unknown() {
    for gate in ["{file_rules: [pairing]}", "\"file_rule_met('pairing')\""] {
        let project = project();
        project.git(&["init", "-q", "-b", "main"]);
        project.rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}_test.rs']\n---\nChange both.\n");
        let workflow = format!(
            "start_node: plan\nnodes:\n  plan: {{prompt: Plan., transitions: [{{when: plan_complete, to: code}}]}}\n  code: \
             {{prompt: Code., requires: [{gate}], transitions: [{{when: code_complete, to: done}}]}}\n"
        );
        project.file(".linchpin/workflows/work.yml", workflow).file("src/old.rs", "a");
        project.git(&["add", "."]);
        project.git(&["commit", "-q", "-m", "before"]);
        project.run(&["start", "work"]);
        project.file("src/c.rs", "b");
        project.git(&["add", "."]);
        project.git(&["commit", "-q", "-m", "half"]);
        assert_eq!(project.run(&["next"]).code, Some(0));
        let reply = project.run(&["next"]);
        assert_eq!(reply.code, Some(1), "{gate}: {}", reply.transcript());
        project.file("tests/c_test.rs", "b");
        let reply = project.run(&["next"]);
        assert_eq!(reply.code, Some(0), "{gate}: {}", reply.transcript());
    }
}

#[test]
fn a_file_rule_gate_reports_that_it_needs_a_session_variable() {
    let project = project();
    project.git(&["init", "--quiet", "--initial-branch=main"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    project.config("variables: {reviewed: false}\n");
    project
        .rule("pairing", "---\nset: [\"src/{path}.py\", \"tests/{path}.py\"]\nwhen: not reviewed\n---\nChange both.\n");
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Code., requires: [{file_rules: [pairing]}], transitions: [{when: \
         code_complete, to: done}]}\n",
    );
    project.run(&["start", "work"]);
    project.file("src/a.py", "b");
    assert_snapshot!(project.run(&["next"]).transcript(), @r"
    exit 1
    --- stdout
    Still at `code`: its gates are not met.

    - code/1: `pairing` cannot be judged: variables of a session are needed, and Linchpin can't tell which session runs this command. Name it: `linchpin next --session ID`
    --- stderr
    ");
    let gate = &project.run(&["status", "--json"]).json()["workflow"]["gates"][0];
    assert_eq!(gate["state"], "depends on the session");
}
