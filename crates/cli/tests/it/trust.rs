//! A repository's policy weakens nothing until a person accepts it.

use super::{NO_DANGER, project};

const APPROVE: &str = "---\ncommand_pattern: '^ls( |$)'\naction: allow\n---\nLooking is fine.\n";

#[test]
fn an_approving_rule_of_a_repository_needs_trust() {
    let project = project();
    project.rule("approve", APPROVE);
    let first = project.hook("claude", &project.bash_payload("ls"));
    insta::assert_snapshot!(first.transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: .linchpin/rules/approve.md: this rule is ignored until a person runs `linchpin trust`, because it approves calls without asking"}
    --- stderr
    "#);
    insta::assert_snapshot!(project.run(&["trust"]).transcript(), @"
    exit 2
    --- stdout
    .linchpin/rules/approve.md: this rule approves calls without asking
        command_pattern: '^ls( |$)'
        action: allow

    --- stderr
    error: cannot ask for confirmation without a terminal
    help: read the files, then run `linchpin trust --yes`
    ");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/approve.md: this rule approves calls without asking
        command_pattern: '^ls( |$)'
        action: allow

    Accepted. The acceptance is valid until one of these parts changes.
    --- stderr
    ");
    let approved = project.hook("claude", &project.bash_payload("ls"));
    assert_eq!(approved.json()["hookSpecificOutput"]["permissionDecision"], "allow");
    insta::assert_snapshot!(project.run(&["trust"]).transcript(), @"
    exit 0
    --- stdout
    already trusted
    --- stderr
    ");
}

#[test]
fn trust_ends_only_if_an_accepted_part_changes() {
    let project = project();
    project.rule("approve", APPROVE);
    project.run(&["trust", "--yes"]);
    project.rule("no-danger", NO_DANGER);
    assert_eq!(
        project.hook("claude", &project.bash_payload("ls")).json()["hookSpecificOutput"]["permissionDecision"],
        "allow"
    );
    project.rule("approve", &APPROVE.replace("^ls", "^(ls|rm)"));
    assert_eq!(project.hook("claude", &project.bash_payload("ls")).stdout, "");
}

#[test]
fn a_repository_needs_trust_to_override_user_rules() {
    let project = project();
    project.user_rule("no-danger", NO_DANGER);
    for override_text in
        ["---\ncommand_pattern: ^never\n---\nNo.\n", "---\ncommand_pattern: ^danger\nenabled: false\n---\nNo.\n"]
    {
        project.rule("no-danger", override_text);
        assert_eq!(project.decision("danger"), "deny");
    }
    project.run(&["trust", "--yes"]);
    assert_eq!(project.decision("danger"), "allow");
}

#[test]
fn a_locked_rule_cannot_be_overridden_even_with_trust() {
    let project = project();
    project.rule("protect-guardrails", "---\ncommand_pattern: ^x\nenabled: false\n---\nNo.\n");
    project.run(&["trust", "--yes"]);
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: `protect-guardrails` is locked in the bundled tier and cannot be replaced
    --> .linchpin/rules/protect-guardrails.md
     = help: rename this rule

    2 rules in force; 1 error.
    --- stderr
    ");
    assert_eq!(project.decision("rm -rf .linchpin"), "deny");
}

#[test]
fn an_agent_cannot_trust() {
    let project = project();
    project.rule("approve", APPROVE);
    let mut command = project.command(&["trust", "--yes"]);
    command.env("CLAUDECODE", "1");
    insta::assert_snapshot!(project.run_with_stdin(command, b"").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: only people may run `linchpin trust`, and `CLAUDECODE` shows that an agent started it
    help: run it in your own terminal
    ");
}

#[test]
fn a_repository_cannot_set_variables_or_max_holds_of_user_rules() {
    let project = project();
    std::fs::create_dir_all(project.user_policy()).expect("a directory");
    std::fs::write(project.user_policy().join("config.yml"), "variables: {hotfix: false}\n").expect("a file");
    project.user_rule("careful", "---\ncommand_pattern: ^danger\nwhen: not hotfix\n---\nNo.\n");
    project.user_rule("wait", "---\non: stop\naction: block\n---\nNot yet.\n");
    project.config("variables: {hotfix: true}\nmax_holds: 0\n");
    assert_eq!(project.decision("danger"), "deny");
    let stop =
        project.hook("claude", &project.event_payload("Stop", &serde_json::json!({ "stop_hook_active": false })));
    assert_eq!(stop.json()["decision"], "block");
}

/// The contents of a broken file cannot be shown to the person, so the person cannot accept the file.
#[test]
fn a_broken_file_is_reported_and_nothing_is_accepted() {
    let files = [
        ("loop.yml", "hats: [\n"),
        ("workflows/work.yml", "start_node: nowhere\nnodes: {}\n"),
        ("config.yml", "mode: watch\n"),
        ("rules/broken.md", "---\ncommand_patern: x\n---\nNo.\n"),
    ];
    for (file, text) in files {
        let project = project();
        project.rule("approve", APPROVE).file(&format!(".linchpin/{file}"), text);
        let reply = project.run(&["trust", "--yes"]);
        assert_eq!((reply.code, reply.stdout.as_str()), (Some(2), ""), "{file}: {}", reply.transcript());
        assert!(
            reply.stderr.contains(&format!("`.linchpin/{file}` is broken, so nothing was accepted")),
            "{}",
            reply.stderr
        );
        assert_eq!(
            project.hook("claude", &project.event_payload("Notification", &serde_json::json!({}))).code,
            Some(0)
        );
        assert!(!project.hook("claude", &project.bash_payload("ls")).stdout.contains("\"allow\""), "{file}");
    }
}

#[test]
fn a_broken_user_file_does_not_prevent_trusting_a_project() {
    let project = project();
    project.rule("approve", APPROVE).user_rule("broken", "---\ncommand_patern: x\n---\nNo.\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
}

#[test]
fn trust_reports_a_broken_loop() {
    let project = project();
    project.file(
        ".linchpin/loop.yml",
        "hats:\n  worker: {triggers: [task.start], publishes: [loop.complete], color: red}\n",
    );
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the loop has no `agent`
     --> .linchpin/loop.yml:1:1
      |
    1 | hats:
      | ^

    error: unknown key `color`
     --> .linchpin/loop.yml:2:64
      |
    2 |   worker: {triggers: [task.start], publishes: [loop.complete], color: red}
      |                                                                ^^^^^

    error: `.linchpin/loop.yml` is broken, so nothing was accepted
    help: fix the errors above (`linchpin validate` shows all of them), then run `linchpin trust` again
    ");
    let report = project.run(&["trust", "--yes", "--json"]).json();
    assert_eq!(report["error"]["file"], ".linchpin/loop.yml", "{report}");
}

#[test]
fn trust_ends_what_running_sessions_keep_of_a_deleted_policy() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    std::fs::remove_dir_all(project.root().join(".linchpin")).expect("removed");
    assert_eq!(project.decision("danger"), "deny");
    insta::assert_snapshot!(project.run(&["status"]).stdout, @"
    Project [BASE]/project
    Session claude session-1
    Rules   none: there is no policy, so every event of a new session is allowed
    Kept    1 rule of a deleted policy, in the sessions that began with it, until you run `linchpin trust`: no-danger
    ");
    assert_eq!(project.run(&["status", "--json"]).json()["session"]["kept"], serde_json::json!(["no-danger"]));
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    rule `no-danger` was removed or switched off; running sessions keep the stricter version until you accept
    Accepted: the changes to `no-danger` now apply to running sessions too.
    --- stderr
    ");
    assert_eq!(project.decision("danger"), "allow");
    insta::assert_snapshot!(project.run(&["status"]).stdout, @"
    Project [BASE]/project
    Session claude session-1
    Rules   none: there is no policy, so every event is allowed
    ");
    // Linchpin still protects itself from the session.
    assert_eq!(project.decision("linchpin trust"), "deny");
}
