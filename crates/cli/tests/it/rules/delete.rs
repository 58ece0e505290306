//! The command `linchpin rules delete`.

use super::read_file;
use crate::{NO_DANGER, project};

#[test]
fn a_rule_is_deleted_unless_it_is_in_use() {
    let project = project();
    project.rule("no-danger", NO_DANGER).rule("hard-reset", NO_DANGER).config("rules: [no-danger, hard-reset]\n");
    insta::assert_snapshot!(project.run(&["rules", "delete", "no-danger"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `no-danger` is named here
     --> .linchpin/config.yml:1:9
      |
    1 | rules: [no-danger, hard-reset]
      |         ^^^^^^^^^

    error: `no-danger` is still in use: `.linchpin/config.yml` names it
    help: remove the name from the configuration first
    ");
    // After the deletion, the name refers to the bundled rule.
    insta::assert_snapshot!(project.run(&["rules", "delete", "hard-reset"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/hard-reset.md (deleted)
      - ---
      - command_pattern: '^danger( |$)'
      - ---
      - Danger is not for agents. Use `safety`.

    `hard-reset` is in force: block on before_tool (bundled rule hard-reset).
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "delete", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hard-reset` is a bundled rule and cannot be deleted
    help: to switch it off, unless it is locked, run `linchpin rules disable hard-reset`
    ");
    project.config("# none\n");
    insta::assert_snapshot!(project.run(&["rules", "delete", "no-danger", "--json"]).transcript(), @r#"
    exit 0
    --- stdout
    {"changed":[{"file":".linchpin/rules/no-danger.md","before":"---\ncommand_pattern: '^danger( |$)'\n---\nDanger is not for agents. Use `safety`.\n","after":null}],"rules":[{"id":"no-danger","in_force":false}],"warnings":[]}
    --- stderr
    "#);
    assert!(!project.root().join(".linchpin/rules/no-danger.md").exists());
}

#[test]
fn an_entry_of_a_library_is_deleted_alone() {
    let project = project();
    let library = "# Shared.\n\n# about one\none:\n  on: stop # here\n  reason: |\n    No.\n\n# about two\ntwo: {on: stop, reason: No.}\n";
    project.file(".linchpin/rules/shared.yml", library);
    insta::assert_snapshot!(project.run(&["rules", "export", "one"]).transcript(), @"
    exit 0
    --- stdout
    # about one
    one:
      on: stop # here
      reason: |
        No.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "delete", "one"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/shared.yml
      - # about one
      - one:
      -   on: stop # here
      -   reason: |
      -     No.
      -
        # about two

    `one` is not in force.
    --- stderr
    ");
    let left = read_file(&project, ".linchpin/rules/shared.yml");
    assert_eq!(left, "# Shared.\n\n# about two\ntwo: {on: stop, reason: No.}\n");
}
