//! DeepWork's configuration and rules.

use insta::assert_snapshot;

use super::problem_kinds;
use crate::{NO_DANGER, project, project_without_policy};

#[test]
fn rules_dir_in_deepworks_format_is_read() {
    let project = project();
    project.file(".deepwork/rules/no-danger.md", NO_DANGER);
    project.config("rules:\n  enabled: true\n  rules_dir: .deepwork/rules\n");
    assert_snapshot!(project.run(&["validate"]).stdout, @"3 rules in force, no errors.");
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn a_named_pipe_as_deepworks_configuration_does_not_block() {
    let project = project();
    project.file(".deepwork/rules/no-danger.md", NO_DANGER);
    let pipe = project.root().join(".deepwork/config.yml");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
    let output = project.run(&["validate"]).stdout;
    assert!(output.contains(".deepwork/rules"), "{output}");
}

#[test]
fn switching_rules_off_in_deepworks_format_needs_trust() {
    let project = project();
    project.rule("no-danger", NO_DANGER).config("rules:\n  enabled: false\n  rules_dir: .linchpin/rules\n");
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(problem_kinds(&project), ["Untrusted"]);
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
}

#[test]
fn rules_in_a_mapping_are_reported_with_the_right_key() {
    let project = project();
    project.config("enabled: true\nrules:\n  enabled: true\n  no-push: {command_pattern: '^git push'}\n");
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: duplicate key `enabled`: it is set under `rules` and next to it
     --> .linchpin/config.yml:3:3
      |
    3 |   enabled: true
      |   ^^^^^^^
      |
      = help: keep one of them

    error: unknown key `no-push` under `rules`
     --> .linchpin/config.yml:4:3
      |
    4 |   no-push: {command_pattern: '^git push'}
      |   ^^^^^^^
      |
      = help: `rules` may be a list of rules and rule names, or a mapping with `enabled` and `rules_dir`; define rules by name under `rule_definitions`

    2 rules in force; 2 errors.
    ");
}

#[test]
fn deepwork_files_are_reported_with_an_import_command() {
    let project = project();
    project.file(".deepwork/rules/no-danger.md", NO_DANGER);
    project.file(".deepwork.rules.yaml", "- name: Docs\n  trigger: src/**\n  instructions: Write docs.\n");
    let reply = project.run(&["validate"]);
    assert_eq!(reply.code, Some(0));
    assert_snapshot!(reply.stdout, @"
    warning: the rules in this folder are not read
    --> .deepwork/rules
     = help: run `linchpin rules import .deepwork/rules` to copy them, or set `rules_dir: .deepwork/rules` in `.linchpin/config.yml` to read them instead of those in `.linchpin/rules`

    warning: the rules in this list are not read
    --> .deepwork.rules.yaml
     = help: run `linchpin rules import .deepwork.rules.yaml` to convert them to rules, then delete the list

    2 rules in force; 2 warnings.
    ");
    assert!(project.run(&["doctor"]).stdout.contains(".deepwork/rules"));
    assert_eq!(project.run(&["rules", "import", ".deepwork.rules.yaml"]).code, Some(0));
    std::fs::remove_file(project.root().join(".deepwork.rules.yaml")).expect("the list");
    project.config("rules_dir: .deepwork/rules\n");
    // The imported rule is in `.linchpin/rules`, which Linchpin does not read while `rules_dir` names another
    // directory.
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    warning: the rules in this folder are ignored, because `rules_dir` names `.deepwork/rules`
    --> .linchpin/rules
     = help: run `linchpin rules import .linchpin/rules` to copy them to `.deepwork/rules`, or remove `rules_dir` from `.linchpin/config.yml` to read them here

    3 rules in force; 1 warning.
    ");
    let output = project.run(&["doctor"]).stdout;
    assert!(output.contains(".linchpin/rules: the rules in this folder are ignored"), "{output}");
    assert_eq!(project.run(&["rules", "import", ".linchpin/rules"]).code, Some(0));
    std::fs::remove_dir_all(project.root().join(".linchpin/rules")).expect("the directory");
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    note: file rules are off: [BASE]/project is not in a git repository

    4 rules in force, no errors.
    ");
}

#[test]
fn importing_a_directory_without_rules_suggests_the_right_one() {
    let project = project();
    project.file(".deepwork/rules/no-danger.md", NO_DANGER).file(".deepwork/config.yml", "version: 1\n");
    project.file("docs/notes.txt", "None.\n");
    assert_snapshot!(project.run(&["rules", "import", ".deepwork"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.deepwork` has no rule files
    help: did you mean `linchpin rules import .deepwork/rules`?
    ");
    assert_snapshot!(project.run(&["rules", "import", "docs"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `docs` has no rule files
    help: pass a rule (`.md`), a rule library (`.yml`, `.yaml`), a list in DeepWork's old format, or a folder with such files
    ");
}

#[test]
fn rules_in_deepworks_configured_rules_dir_are_found() {
    let project = project();
    project.file("policies/no-danger.md", NO_DANGER);
    project.file(".deepwork/config.yml", "rules:\n  enabled: true\n  rules_dir: ./policies/\n");
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    warning: the rules in this folder are not read
    --> policies
     = help: run `linchpin rules import policies` to copy them, or set `rules_dir: policies` in `.linchpin/config.yml` to read them instead of those in `.linchpin/rules`

    2 rules in force; 1 warning.
    ");
}

#[test]
fn a_rules_dir_relative_to_deepworks_directory_is_found() {
    for config in ["rules_dir: rules\n", "rules:\n  rules_dir: rules\n", "rules_dir: policies\n"] {
        let project = project();
        project.file(".deepwork/rules/no-danger.md", NO_DANGER).file(".deepwork/config.yml", config);
        let output = project.run(&["validate"]).stdout;
        assert!(output.contains("the rules in this folder are not read\n--> .deepwork/rules\n"), "{config}: {output}");
        // `rules_dir` in Linchpin's configuration makes Linchpin read these rules.
        project.config("rules_dir: .deepwork/rules\n");
        assert_eq!(project.run(&["validate"]).stdout, "3 rules in force, no errors.\n");
    }
    let project = project();
    project.file(".deepwork/own/no-danger.md", NO_DANGER).file(".deepwork/config.yml", "rules_dir: own\n");
    assert!(project.run(&["validate"]).stdout.contains("--> .deepwork/own\n"));
}

#[test]
fn importing_deepworks_directory_suggests_its_rules_dir() {
    for (directory, rules) in [("guards", "guards"), (".deepwork/guards", "guards"), (".deepwork/rules", "rules")] {
        let project = project();
        project
            .file(&format!("{directory}/no-danger.md"), NO_DANGER)
            .file(&format!("{directory}/README.md"), "About.\n");
        project.file(".deepwork/config.yml", format!("rules_dir: {rules}\n"));
        let output = project.run(&["rules", "import", ".deepwork"]).stderr;
        assert!(output.contains(&format!("did you mean `linchpin rules import {directory}`?")), "{output}");
        assert!(project.run(&["validate"]).stdout.contains("are not read"));
        assert_eq!(project.run(&["rules", "import", directory]).code, Some(0));
        assert_eq!(project.run(&["validate"]).stdout, "3 rules in force, no errors.\n");
        // A rule that was not imported is reported again.
        project.file(&format!("{directory}/more.md"), NO_DANGER);
        assert!(project.run(&["validate"]).stdout.contains("are not read"));
    }
}

#[test]
fn deepwork_rules_without_a_linchpin_policy_suggest_init() {
    let project = project_without_policy();
    project.file(".deepwork/rules/no-danger.md", NO_DANGER);
    assert_snapshot!(project.run(&["validate"]).stderr, @"
    error: there is no policy in `[BASE]/project` or above it
    help: run `linchpin init` to write one; then run `linchpin rules import .deepwork/rules` to copy them, or set `rules_dir: .deepwork/rules` in `.linchpin/config.yml` to read them instead of those in `.linchpin/rules`
    ");
}

#[test]
fn init_reports_deepwork_rules() {
    let project = project_without_policy();
    project.file(".deepwork/rules/no-danger.md", NO_DANGER);
    let output = project.run(&["init", "--no-hooks"]).stdout;
    assert!(output.contains("linchpin rules import .deepwork/rules"), "{output}");
}
