//! `linchpin doctor` in a submodule.

use insta::assert_snapshot;
use testkit::TestProject;

use crate::project;

/// A project that contains a directory with its own policy, as a submodule may.
fn with_submodule() -> TestProject {
    let project = project();
    project.rule("outer", crate::NO_DANGER).file("part/.linchpin/rules/inner.md", crate::NO_DANGER);
    project.file("part/.linchpin/rules/broken.md", "---\ncommand_patern: x\n---\nNo.\n");
    project.file("part/.git", "gitdir: ../.git/modules/part\n");
    project
}

fn run_in_part(project: &TestProject, arguments: &[&str]) -> testkit::ProcessOutput {
    let mut command = project.command(arguments);
    command.current_dir(project.root().join("part"));
    project.run_with_stdin(command, b"")
}

#[test]
fn doctor_in_a_submodule_reports_both_policies() {
    let project = with_submodule();
    project.run(&["install", "claude"]);
    assert_snapshot!(run_in_part(&project, &["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project
    with the nested policy of [BASE]/project/part

    ok    3 rules in force
    ok    part: 1 rule in force
    bad   part: broken, the file is ignored: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
          `linchpin validate` shows every error
    note  no journal yet: the first event creates it
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    ok    Claude Code: self-test passed: the program answers; it would refuse `linchpin trust`
    note  Claude Code: no hooks in [BASE]/project/part, and the agent might not read the hooks of a parent folder; run `linchpin install claude` there to add them
    --- stderr
    ");
    assert_eq!(run_in_part(&project, &["install", "claude"]).code, Some(0));
    assert_snapshot!(run_in_part(&project, &["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project
    with the nested policy of [BASE]/project/part

    ok    3 rules in force
    ok    part: 1 rule in force
    bad   part: broken, the file is ignored: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
          `linchpin validate` shows every error
    note  no journal yet: the first event creates it
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    ok    Claude Code: self-test passed: the program answers; it would refuse `linchpin trust`
    ok    Claude Code: hooks in [BASE]/project/part/.claude/settings.json
    ok    Claude Code: self-test passed: the program answers; it would refuse `linchpin trust`
    --- stderr
    ");
    // `doctor` does not check the policy of `part` if it runs outside of `part`.
    assert_eq!(project.run(&["doctor", "--json"]).json()["nested"], serde_json::json!([]));
    assert_snapshot!(run_in_part(&project, &["status"]).transcript(), @"
    exit 0
    --- stdout
    Project [BASE]/project
    Session none yet
    Rules   3 rules in force
      outer                        block  project
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
    Nested  1 rule in force in [BASE]/project/part
      inner                        block  project
      broken, the file is ignored: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
    --- stderr
    ");
    let report = run_in_part(&project, &["status", "--json"]).json();
    assert_eq!(report["nested"][0]["rules"][0]["rule"], "inner", "{report}");
}

#[test]
fn doctor_in_a_submodule_finds_its_hooks() {
    let project = with_submodule();
    assert_eq!(run_in_part(&project, &["install", "claude"]).code, Some(0));
    let report = run_in_part(&project, &["doctor", "--json"]).json()["checks"].to_string();
    assert!(!report.contains("no agent has Linchpin's hooks"), "{report}");
}
