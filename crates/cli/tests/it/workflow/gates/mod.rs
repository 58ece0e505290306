//! Gates: the conditions of a move, and who may approve it.

mod approvals;
mod commands;
mod order;
mod trust;
mod webhooks;

use std::fs;
use std::path::PathBuf;

use crate::project;
use testkit::TestProject;

/// A git repository with a trusted workflow `w` that is at its node `work`. The gates of the node are `requires`.
fn with_gates(requires: &str) -> TestProject {
    with_gates_and_keys(requires, "")
}

/// Like [`with_gates`], with additional keys in the workflow file.
fn with_gates_and_keys(requires: &str, extra_keys: &str) -> TestProject {
    let project = repository();
    write_workflow(&project, requires, extra_keys);
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(project.run(&["start", "w"]).code, Some(0));
    project
}

fn repository() -> TestProject {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.file("a.txt", "one\n");
    project.git(&["add", "--all"]);
    project.git(&["commit", "-q", "-m", "first"]);
    project
}

fn write_workflow(project: &TestProject, requires: &str, extra_keys: &str) {
    let text = format!(
        "start_node: work\nvariables: {{ready: false}}\nclaims: [again]\n{extra_keys}\nnodes:\n  work:\n    prompt: Work.\n    requires: {requires}\n    transitions: [{{when: again, to: work}}, {{when: work_complete, to: rest}}]\n  rest:\n    prompt: Rest.\n    transitions: [{{when: rest_complete, to: done}}]\n"
    );
    project.file(".linchpin/workflows/w.yml", text);
}

/// Returns the temporary directory. A sandboxed command is allowed to write to it.
fn temp(project: &TestProject) -> PathBuf {
    project.root().join("../tmp")
}

/// A gate whose command appends a line to the file `name` in the temporary directory, and then runs the shell code
/// `then`.
fn counting_gate(name: &str, then: &str) -> String {
    let script = format!("echo ran >> $TMPDIR/{name}; {then}");
    format!("{{command: [sh, -c, '{}']}}", script.replace('\'', "''"))
}

/// Returns how often the command of the [`counting_gate`] with this name ran.
fn run_count(name: &str, project: &TestProject) -> usize {
    fs::read_to_string(temp(project).join(name)).unwrap_or_default().lines().count()
}

/// Returns the lines of `status` about gates and possible moves.
fn moves_in_status(project: &TestProject) -> String {
    let status = project.run(&["status"]).stdout;
    let is_about_moves =
        |line: &&str| ["  rules:", "  to leave", "  →", "      "].iter().any(|start| line.starts_with(start));
    status.lines().filter(is_about_moves).collect::<Vec<_>>().join("\n")
}

#[test]
fn status_shows_gates_without_checking_them() {
    let project = repository();
    let requires = format!(
        "[ready, 'phase.visit == 1', {}, {{approval: 'Ship it?'}}, {{file_rules: [pairing]}}, {{webhook: {{url: 'https://example.com'}}}}]",
        counting_gate("count", "true")
    );
    project
        .rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}_test.rs']\nattribute: tree\n---\nChange both.\n");
    write_workflow(&project, &requires, "rules: [{name: no-push, command_pattern: '^git push', reason: No.}]");
    project.run(&["start", "w"]);
    insta::assert_snapshot!(moves_in_status(&project), @"
    rules: w/no-push
        work/1, not met: ready
        work/2, met: phase.visit == 1
        work/3, not trusted yet: command sh -c 'echo ran >> $TMPDIR/count; true'
        work/4, not met: approval: Ship it?
        work/5, not checked yet: file rules pairing
        work/6, not trusted yet: webhook POST https://example.com
    → work by again
    → rest by work_complete
    ");
    project.run(&["trust", "--yes"]);
    project.run(&["approve", "--yes"]);
    insta::assert_snapshot!(moves_in_status(&project), @"
    rules: w/no-push
        work/1, not met: ready
        work/2, met: phase.visit == 1
        work/3, not checked yet: command sh -c 'echo ran >> $TMPDIR/count; true'
        work/4, met: approval: Ship it?
        work/5, not checked yet: file rules pairing
        work/6, not checked yet: webhook POST https://example.com
    → work by again
    → rest by work_complete
    ");
    assert_eq!(run_count("count", &project), 0);
    let json = project.run(&["status", "--json"]).json();
    insta::assert_snapshot!(json["workflow"]["moves"].to_string(), @r#"[{"to":"work","when":"again","claims":["again"],"depends_on_session":false,"gates":[]},{"to":"rest","when":"work_complete","claims":["work_complete"],"depends_on_session":false,"gates":[]}]"#);
    assert_eq!(json["workflow"]["in_force"], serde_json::json!(["w/no-push"]));
}

#[test]
fn status_shows_claims_and_their_targets() {
    let project = project();
    project.file(
        ".linchpin/workflows/w.yml",
        "start_node: a\nvariables: {big: false}\nclaims: [again, skip]\nnodes:\n  a:\n    prompt: A.\n    transitions:\n      - {when: \
         'a_complete and big', to: b}\n      - {when: again or skip, to: a, requires: [again]}\n      - {when: a_complete, to: done, \
         requires: [a_complete, big]}\n  b: {prompt: B., transitions: [{when: b_complete, to: done}]}\n",
    );
    project.run(&["start", "w"]);
    insta::assert_snapshot!(moves_in_status(&project), @"
    → b when a_complete and big: no single claim leads there now
    → a by again or skip
        a/transitions/2/1, met: again
    → done by a_complete
        a/transitions/3/1, met: a_complete
        a/transitions/3/2, not met: big
    ");
}

/// `status` shows the recorded result of a gate's command until the tree changes.
#[test]
fn status_uses_receipts() {
    let project = with_gates("[{command: 'true'}, {command: 'false'}]");
    insta::assert_snapshot!(moves_in_status(&project), @"
        work/1, not checked yet: command true
        work/2, not checked yet: command false
    → work by again
    → rest by work_complete
    ");
    project.run(&["next"]);
    insta::assert_snapshot!(moves_in_status(&project), @"
        work/1, met: command true
        work/2, not met: command false
    → work by again
    → rest by work_complete
    ");
    project.file("a.txt", "two\n");
    insta::assert_snapshot!(moves_in_status(&project), @"
        work/1, not checked yet: command true
        work/2, not checked yet: command false
    → work by again
    → rest by work_complete
    ");
}
