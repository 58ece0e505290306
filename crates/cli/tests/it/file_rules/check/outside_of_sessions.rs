//! Conditions of file rules in `check`, which belongs to no session: the facts that conditions can use, and the report
//! if they need other facts.

use serde_json::Value;
use testkit::TestProject;

use crate::file_rules::{README_RULE, commit, with_rule};

/// A project with a changed source file, whose rule about the README has this condition.
fn with_condition(when: &str) -> TestProject {
    let project = with_rule("readme", &README_RULE.replace("safety", &format!("when: \"{when}\"\nsafety")));
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code: {prompt: Go., transitions: [{when: code_complete, to: done}]}\n",
    );
    commit(&project, "A workflow");
    project.file("src/a.py", "changed\n");
    project
}

fn check_transcript(project: &TestProject) -> String {
    project.run(&["check"]).transcript().replace(&project.git(&["rev-parse", "--short=12", "HEAD"]), "[HEAD]")
}

fn outcome(project: &TestProject) -> Value {
    project.run(&["check", "--json"]).json()["rules"][0]["outcome"].clone()
}

#[test]
fn conditions_see_the_active_workflow() {
    for (when, without_workflow, with_workflow) in [
        ("workflow.active", "met", "unmet"),
        ("not workflow.active", "unmet", "met"),
        ("workflow.name == 'work' and phase.name == 'code' and phase.visit == 1", "met", "unmet"),
        ("loop.active", "met", "met"),
    ] {
        let project = with_condition(when);
        assert_eq!(outcome(&project), without_workflow, "{when}");
        assert_eq!(project.run(&["start", "work"]).code, Some(0));
        assert_eq!(outcome(&project), with_workflow, "{when}");
        project.run(&["abort"]);
        assert_eq!(outcome(&project), without_workflow, "{when}");
    }
}

#[test]
fn unreadable_workflow_state_is_reported() {
    let project = with_condition("workflow.active");
    project.run(&["start", "work"]);
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(project.root().join(format!(".linchpin/state.db{suffix}")));
    }
    project.file(".linchpin/state.db", "This is no database.");
    insta::assert_snapshot!(check_transcript(&project), @"
    exit 0
    --- stdout
    Note: `readme` was not judged: its `when` needs the project's journal or tasks, which cannot be read.
    No other file rule was judged; 1 file changed since [HEAD].
    --- stderr
    ");
}

#[test]
fn a_condition_on_a_session_is_undecidable() {
    let project = with_condition("variables.get('hotfix') or command_ran('cargo test')");
    insta::assert_snapshot!(check_transcript(&project), @"
    exit 0
    --- stdout
    Note: `readme` was not judged: its `when` needs `variables.hotfix` and the commands that the session ran, and `check` runs outside a session. `check` uses the default under `variables:` in `.linchpin/config.yml`.
    No other file rule was judged; 1 file changed since [HEAD].
    --- stderr
    ");
    assert_eq!(outcome(&project), "undecidable");
    let project = with_condition("'done' in (event.message or '')");
    assert_eq!(outcome(&project), "undecidable");
    // If `README.md` has changed, the rule is met, whatever its condition is.
    project.file("README.md", "changed\n");
    assert_eq!(outcome(&project), "met");
}

#[test]
fn check_uses_default_values_of_variables() {
    let project = with_condition("variables.tests_ran");
    let config = |value: bool| {
        project.file(".linchpin/config.yml", format!("variables: {{tests_ran: {value}}}\n"));
    };
    config(true);
    assert_eq!(outcome(&project), "unmet");
    config(false);
    insta::assert_snapshot!(check_transcript(&project), @"
    exit 0
    --- stdout
    Note: `readme` was skipped: outside a session `variables.tests_ran` has its default, and then the rule's `when` is false.
    1 file rule met; 2 files changed since [HEAD].
    --- stderr
    ");
}

#[test]
fn a_claim_that_no_workflow_declares_is_an_unknown_name() {
    let project = with_condition("claims.code_compleet");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 2
    --- stdout
    error: unknown claim `code_compleet`: no workflow declares it
     --> .linchpin/rules/readme.md:4:15
      |
    4 | when: "claims.code_compleet"
      |               ^^^^^^^^^^^^^
      |
      = help: did you mean `code_complete`?

    3 rules in force, 1 workflow; 1 error.
    --- stderr
    "#);
}
