//! A repository's workflow starts and approves nothing until a person trusts it.

use std::fs;

use serde_json::json;
use testkit::TestProject;

use super::{counting_gate, repository, run_count, temp, write_workflow};

/// A repository with an active workflow that no person has trusted.
fn untrusted(requires: &str, extra_keys: &str) -> TestProject {
    let project = repository();
    write_workflow(&project, requires, extra_keys);
    assert_eq!(project.run(&["start", "w"]).code, Some(0));
    project
}

#[test]
fn a_command_of_a_repository_is_not_run() {
    let project = untrusted(&format!("[{}]", counting_gate("count", "true")), "");
    insta::assert_snapshot!(project.run(&["next"]).transcript(), @"
    exit 1
    --- stdout
    Still at `work`: its gates are not met.

    - work/1: command sh -c 'echo ran >> $TMPDIR/count; true' is not trusted yet: run `linchpin trust`
    --- stderr
    ");
    assert_eq!(run_count("count", &project), 0);
    insta::assert_snapshot!(project.run(&["trust"]).transcript(), @"
    exit 2
    --- stdout
    .linchpin/workflows/w.yml: it starts programs or approves calls
        gate `work/1`: runs `sh -c 'echo ran >> $TMPDIR/count; true'`

    --- stderr
    error: cannot ask for confirmation without a terminal
    help: read the files, then run `linchpin trust --yes`
    ");
    insta::assert_snapshot!(project.run(&["trust", "--yes", "--json"]).stdout, @r#"{"trusted":true,"accepted":[".linchpin/workflows/w.yml"],"changes":[]}"#);
    assert_eq!(project.run(&["trust"]).stdout, "already trusted\n");
    assert_eq!(project.run(&["next"]).code, Some(0));
    assert_eq!(run_count("count", &project), 1);
}

#[test]
fn a_change_of_the_file_ends_trust() {
    let project = untrusted(&format!("[{}, {{command: 'false'}}]", counting_gate("count", "true")), "");
    project.run(&["trust", "--yes"]);
    project.run(&["next"]);
    write_workflow(&project, &format!("[{}]", counting_gate("other", "true")), "");
    assert!(project.run(&["next"]).stdout.contains("not trusted yet"));
    assert_eq!(run_count("other", &project), 0);
    // A change of a node's prompt needs no new trust.
    let file = project.root().join(".linchpin/workflows/w.yml");
    project.run(&["trust", "--yes"]);
    let text = fs::read_to_string(&file).expect("a file").replace("prompt: ", "prompt: Please. ");
    assert!(text.contains("Please."), "{text}");
    fs::write(&file, text).expect("a file");
    assert!(!project.run(&["next"]).stdout.contains("not trusted yet"));
    project.run(&["restart"]);
    // Trust in a workflow file does not apply to a copy of the file under another name.
    let text = fs::read_to_string(project.root().join(".linchpin/workflows/w.yml")).expect("a file");
    project.run(&["trust", "--yes"]);
    project.file(".linchpin/workflows/v.yml", text);
    project.run(&["abort"]);
    project.run(&["start", "v"]);
    assert!(project.run(&["next"]).stdout.contains("not trusted yet"));
}

#[test]
fn a_webhook_of_a_repository_is_not_called() {
    let hook = "[{webhook: {url: 'https://example.invalid/gate', headers: {Authorization: env:GATE_TOKEN}}}]";
    let project = untrusted(hook, "");
    assert!(project.run(&["next"]).stdout.contains("not trusted yet"));
    let shown = project.run(&["trust"]).stdout;
    assert!(shown.contains("gate `work/1`: asks https://example.invalid/gate, and sends it GATE_TOKEN"), "{shown}");
}

#[test]
fn a_workflow_without_commands_or_webhooks_needs_no_trust() {
    let project = untrusted("[variables.ready, {approval: 'Ship it?'}]", "");
    assert_eq!(project.run(&["trust"]).stdout, "nothing in this policy needs trust\n");
}

#[test]
fn the_users_workflow_needs_no_trust() {
    let project = repository();
    write_workflow(&project, &format!("[{}]", counting_gate("count", "true")), "");
    let from = project.root().join(".linchpin/workflows/w.yml");
    let to = project.user_policy().join("workflows");
    fs::create_dir_all(&to).expect("a directory");
    fs::rename(from, to.join("w.yml")).expect("a file");
    project.run(&["start", "w"]);
    assert_eq!(project.run(&["next"]).code, Some(0));
    assert_eq!(run_count("count", &project), 1);
}

#[test]
fn only_approving_rules_of_a_workflow_need_trust() {
    let rules = "rules:\n  - {tools: [Bash], command_pattern: '^ls', action: allow, reason: Fine.}\n  - {tools: [Bash], command_pattern: '^danger', reason: No.}";
    let project = untrusted("[]", rules);
    let first = project.hook("claude", &project.bash_payload("ls"));
    let notice = first.json()["systemMessage"].as_str().map(str::to_owned).unwrap_or_default();
    assert!(
        notice.contains(
            ".linchpin/workflows/w.yml: until you run `linchpin trust`, these parts are ignored: rule `w/1`: approves"
        ),
        "{notice}"
    );
    assert!(first.json()["hookSpecificOutput"].is_null());
    assert_eq!(project.decision("danger"), "deny");
    project.run(&["trust", "--yes"]);
    let approved = project.hook("claude", &project.bash_payload("ls"));
    assert_eq!(approved.json()["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn trust_covers_rules_imported_from_a_library() {
    let library = "fine: {tools: [Bash], command_pattern: '^ls', action: allow, reason: Fine.}\n";
    let project = repository();
    project.file(".linchpin/rules/house.yml", library);
    write_workflow(&project, "[]", "imports: [house]\nrules: [fine]");
    project.run(&["start", "w"]);
    project.run(&["trust", "--yes"]);
    let approved = |project: &TestProject, command: &str| {
        let reply = project.hook("claude", &project.bash_payload(command));
        !reply.stdout.is_empty() && reply.json()["hookSpecificOutput"]["permissionDecision"] == json!("allow")
    };
    assert!(approved(&project, "ls"));
    project.file(".linchpin/rules/house.yml", library.replace("^ls", "."));
    assert!(!approved(&project, "ls") && !approved(&project, "make"));
}

#[test]
fn observer_programs_need_trust() {
    let observer = "observers: [{name: spy, behavior: {exec: [sh, -c, 'echo ran >> $TMPDIR/spy']}}]";
    let project = untrusted("[]", observer);
    project.hook("claude", &project.bash_payload("ls"));
    assert!(!temp(&project).join("spy").exists());
    project.run(&["trust", "--yes"]);
    project.hook("claude", &project.bash_payload("ls"));
    assert_eq!(run_count("spy", &project), 1);
}

#[test]
fn doctor_reports_missing_trust() {
    let project = untrusted("[{command: make}]", "");
    assert!(project.run(&["doctor"]).stdout.contains("gate `work/1`: runs `make`"));
    project.run(&["trust", "--yes"]);
    assert!(!project.run(&["doctor"]).stdout.contains("gate work/1"));
}

/// Commands tell a person that trust is missing before a gate fails because of that.
#[test]
fn commands_show_missing_trust() {
    let project = untrusted("[{command: make}]", "");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    note: .linchpin/workflows/w.yml: until you run `linchpin trust`, these gates are not met: gate `work/1`: runs `make`

    2 rules in force, 1 workflow, no errors.
    --- stderr
    ");
    let shown = project.run(&["workflows", "show", "w", "--format", "mermaid"]);
    insta::assert_snapshot!(shown.stderr, @"note: .linchpin/workflows/w.yml: until you run `linchpin trust`, these gates are not met: gate `work/1`: runs `make`");
    let parts = json!(["gate `work/1`: runs `make`"]);
    let json = project.run(&["workflows", "show", "w", "--json"]).json();
    assert_eq!((&json["needs_trust"], &json["trusted"]), (&parts, &json!(false)));
    assert_eq!(project.run(&["validate", "--json"]).json()["sound"], true);
    project.run(&["trust", "--yes"]);
    assert!(!project.run(&["validate"]).stdout.contains("note:"));
    let shown = project.run(&["workflows", "show", "w"]);
    assert_eq!(
        (shown.stderr.as_str(), &project.run(&["workflows", "show", "w", "--json"]).json()["trusted"]),
        ("", &json!(true))
    );
}
