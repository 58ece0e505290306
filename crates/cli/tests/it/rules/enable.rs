//! The commands `linchpin rules enable` and `linchpin rules disable`.

use super::{COMMENTED, CONFIG, file_contents, read_file};
use crate::{NO_DANGER, project};

#[test]
fn disabling_and_enabling_a_rule_restores_its_file() {
    for text in [COMMENTED.to_owned(), COMMENTED.replace('\n', "\r\n"), format!("\u{feff}{}", COMMENTED.trim_end())] {
        let project = project();
        project.rule("no-danger", &text);
        assert_eq!(project.decision("danger"), "deny");
        insta::allow_duplicates! {
            insta::assert_snapshot!(project.run(&["rules", "disable", "no-danger"]).transcript(), @"
            exit 0
            --- stdout
            .linchpin/rules/no-danger.md
                    - {command: danger, expect: block}   # the plain case
              + enabled: false

            `no-danger` is not in force.
            --- stderr
            ");
        }
        let off = read_file(&project, ".linchpin/rules/no-danger.md");
        let line = if text.contains('\r') { "enabled: false\r\n" } else { "enabled: false\n" };
        assert_eq!(off.replacen(line, "", 1), text);
        assert_eq!(project.run(&["rules", "enable", "no-danger"]).code, Some(0));
        assert_eq!(read_file(&project, ".linchpin/rules/no-danger.md"), text);
        assert_eq!(project.decision("danger"), "deny");
    }
}

#[test]
fn enabling_an_enabled_rule_changes_nothing() {
    let project = project();
    project.rule("no-danger", NO_DANGER).config(CONFIG);
    let before = file_contents(&project.root());
    let mut replies = Vec::new();
    for arguments in [
        ["rules", "enable", "no-danger"],
        ["rules", "enable", "hard-reset"],
        ["rules", "disable", "force-push-protected"],
        ["rules", "enable", "protect-guardrails"],
    ] {
        replies.push(project.run(&arguments).transcript());
        assert_eq!(file_contents(&project.root()), before);
    }
    insta::assert_snapshot!(replies.join("\n"), @"
    exit 0
    --- stdout
    Nothing to change.
    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    --- stderr

    exit 0
    --- stdout
    Nothing to change.
    `hard-reset` is in force: block on before_tool (bundled rule hard-reset).
    --- stderr

    exit 0
    --- stdout
    Nothing to change.
    `force-push-protected` is not in force.
    --- stderr

    exit 0
    --- stdout
    Nothing to change.
    `protect-guardrails` is in force: block on before_tool (bundled rule protect-guardrails).
    --- stderr
    ");
}

#[test]
fn a_bundled_rule_is_switched_in_the_configuration() {
    let project = project();
    project.config(CONFIG);
    insta::assert_snapshot!(project.run(&["rules", "enable", "force-push-protected"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/config.yml
          - read-secrets   # keys
      +   - force-push-protected

    `force-push-protected` is in force: block on before_tool (bundled rule force-push-protected).
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "disable", "hard-reset"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/config.yml
        rules: # in force everywhere
      -   # never rewrite history
      -   - hard-reset
          - read-secrets   # keys

    `hard-reset` is not in force.
    --- stderr
    ");
    insta::assert_snapshot!(read_file(&project, ".linchpin/config.yml"), @"
    # Settings of the team.

    rules: # in force everywhere
      - read-secrets   # keys
      - force-push-protected

    max_holds: 5 # enough
    ");
    assert_eq!(project.run(&["rules", "disable", "force-push-protected"]).code, Some(0));
    assert_eq!(
        read_file(&project, ".linchpin/config.yml"),
        CONFIG.replace("  # never rewrite history\n  - hard-reset\n", "")
    );
    insta::assert_snapshot!(project.run(&["rules", "disable", "protect-guardrails"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `protect-guardrails` is locked and cannot be switched off
    help: it protects Linchpin itself from being switched off
    ");
}

#[test]
fn enable_creates_a_missing_configuration() {
    let project = project();
    insta::assert_snapshot!(project.run(&["rules", "enable", "hard-reset", "--json"]).transcript(), @r#"
    exit 0
    --- stdout
    {"changed":[{"file":".linchpin/config.yml","before":null,"after":"rules:\n  - hard-reset\n"}],"rules":[{"id":"hard-reset","in_force":true}],"warnings":[]}
    --- stderr
    "#);
    assert_eq!(read_file(&project, ".linchpin/config.yml"), "rules:\n  - hard-reset\n");
}
