//! Commands that change rules: whether they write to the project's or the user's policy, who is allowed to run them,
//! and what they report if they cannot write.

use std::fs;

use super::{file_contents, read_file, run_as_agent};
use crate::{NO_DANGER, project, project_without_policy};

#[test]
fn user_flag_changes_the_user_tier() {
    let project = project();
    insta::assert_snapshot!(project.run(&["rules", "enable", "hard-reset", "--user"]).transcript(), @"
    exit 0
    --- stdout
    [BASE]/config/linchpin/config.yml (new)
      + rules:
      +   - hard-reset

    `hard-reset` is in force: block on before_tool (bundled rule hard-reset).
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "disable", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hard-reset` is in force because the user tier names it
    help: run the command with `--user`
    ");
    project.run(&["rules", "new", "mine", "--user", "--command-pattern", "^danger", "--reason", "No."]);
    assert_eq!(project.decision("danger"), "deny");
    insta::assert_snapshot!(project.run(&["rules", "delete", "mine"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `mine` is a rule of the user tier
    help: run the command with `--user`
    ");
    insta::assert_snapshot!(project.run(&["rules", "delete", "mine", "--user"]).transcript(), @"
    exit 0
    --- stdout
    [BASE]/config/linchpin/rules/mine.md (deleted)
      - ---
      - command_pattern: '^danger'
      - ---
      - No.

    `mine` is not in force.
    --- stderr
    ");
    let elsewhere = project_without_policy();
    insta::assert_snapshot!(elsewhere.run(&["rules", "enable", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `linchpin init` writes one; `--user` selects your own policy
    ");
    assert_eq!(elsewhere.run(&["rules", "enable", "hard-reset", "--user"]).code, Some(0));
    insta::assert_snapshot!(project.run(&["rules", "new", "broken", "--user", "--on", "stpo", "--reason", "No."]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown event `stpo`
     --> [BASE]/config/linchpin/rules/broken.md:2:5
      |
    2 | on: stpo
      |     ^^^^
      |
      = help: did you mean `stop`?

    error: nothing was written
    ");
}

#[test]
fn write_errors_are_reported() {
    let project = project();
    fs::remove_dir(project.root().join(".linchpin/rules")).expect("a directory");
    project.file(".linchpin/rules", "a file where the directory should be").config("# none\n");
    insta::assert_snapshot!(project.run(&["rules", "new", "x", "--on", "stop", "--reason", "No."]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/rules/x.md` cannot be written: File exists (os error 17)
    ");
    let config = project.root().join(".linchpin/config.yml");
    fs::remove_file(&config).expect("a file");
    fs::create_dir(&config).expect("a directory");
    insta::assert_snapshot!(project.run(&["rules", "enable", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/config.yml` cannot be read: not a regular file
    ");
}

#[test]
fn a_read_only_rules_directory_is_not_changed() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let rules = project.root().join(".linchpin/rules");
    fs::set_permissions(&rules, fs::Permissions::from_mode(0o555)).expect("a mode");
    // Root can write in any directory, so the rest of the test is skipped for root.
    if fs::write(rules.join("probe"), "").is_err() {
        for arguments in [["rules", "disable", "no-danger"], ["rules", "delete", "no-danger"]] {
            let reply = project.run(&arguments);
            assert!(reply.stderr.contains("Permission denied"), "{}", reply.stderr);
            assert_eq!(reply.code, Some(2));
        }
        assert_eq!(read_file(&project, ".linchpin/rules/no-danger.md"), NO_DANGER);
        assert_eq!(fs::read_dir(&rules).expect("a directory").count(), 1);
    }
    fs::set_permissions(&rules, fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn new_rules_are_written_to_rules_dir() {
    let project = project();
    project.config("rules_dir: .deepwork/rules\n");
    insta::assert_snapshot!(project.run(&["rules", "new", "x", "--on", "stop", "--reason", "No."]).transcript(), @"
    exit 0
    --- stdout
    .deepwork/rules/x.md (new)
      + ---
      + on: stop
      + ---
      + No.

    `x` is in force: warn on stop (.deepwork/rules/x.md).
    --- stderr
    ");
    assert!(project.root().join(".deepwork/rules/x.md").is_file());
}

#[test]
fn agents_may_not_run_commands_that_change_rules() {
    let project = project();
    project.rule("no-danger", NO_DANGER).file("x.md", NO_DANGER);
    let before = file_contents(&project.root());
    for arguments in [
        &["rules", "new", "y", "--on", "stop", "--reason", "No."][..],
        &["rules", "edit", "no-danger", "--file", "-"],
        &["rules", "enable", "hard-reset"],
        &["rules", "disable", "no-danger"],
        &["rules", "delete", "no-danger"],
        &["rules", "import", "x.md"],
        &["rules", "accept"],
    ] {
        let reply = run_as_agent(&project, arguments, "");
        assert_eq!(reply.code, Some(2));
        assert!(reply.stderr.contains("only people may run"), "{}", reply.stderr);
        assert_eq!(file_contents(&project.root()), before);
    }
}
