//! `linchpin rules import` with lists in DeepWork's old format.

use super::{file_contents, read_file, run_as_agent, run_with_input};
use crate::project;

const LIST: &str = "\
- name: README Accuracy
  trigger: src/**/*
  safety: README.md
  instructions: |
    The code changed. See that README.md is still true.
- name: style
  trigger: ['*.py', lib/*.js]
  instructions_file: rules/style.md
  compare_to: prompt
";

#[test]
fn an_imported_list_becomes_rules_in_force() {
    let project = project();
    project.file(".deepwork.rules.yml", LIST).file("rules/style.md", "Run the formatter.\n");
    insta::assert_snapshot!(project.run(&["rules", "import", ".deepwork.rules.yml"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/readme-accuracy.md (new)
      + ---
      + name: 'README Accuracy'
      + trigger: 'src/**'
      + safety: README.md
      + ---
      + The code changed. See that README.md is still true.

    .linchpin/rules/style.md (new)
      + ---
      + trigger:
      +   - '**/*.py'
      +   - 'lib/**/*.js'
      + compare_to: prompt
      + ---
      + Run the formatter.

    Compared with the old list
      .deepwork.rules.yml:2:12: `trigger` of `readme-accuracy`: `src/**/*` → `src/**`: matches the same files
      .deepwork.rules.yml:7:13: `trigger` of `style`: `*.py` → `**/*.py`: `*` crossed folders in the old format, but does not here
      .deepwork.rules.yml:7:21: `trigger` of `style`: `lib/*.js` → `lib/**/*.js`: `*` crossed folders in the old format, but does not here

    `readme-accuracy` is in force: block on stop, subagent_stop (.linchpin/rules/readme-accuracy.md).
    `style` is in force: block on stop, subagent_stop (.linchpin/rules/style.md).
    --- stderr
    ");
    assert_eq!(read_file(&project, ".deepwork.rules.yml"), LIST);
    assert_eq!(project.run(&["validate"]).code, Some(0));
    // In the old format, `*.py` matched files in every directory. The imported rule does the same.
    let checked = run_with_input(
        &project,
        &["check", "--changed-from", "-"],
        "M\tdeep/down/a.py\nM\tlib/below/b.js\nA\tsrc/c.rs\n",
    );
    insta::assert_snapshot!(checked.transcript(), @"
    exit 1
    --- stdout
    ## README Accuracy
    src/c.rs
    (changing README.md satisfies it)

    The code changed. See that README.md is still true.
    (readme-accuracy in .linchpin/rules/readme-accuracy.md)

    ## style
    deep/down/a.py
    lib/below/b.js

    Run the formatter.
    (style in .linchpin/rules/style.md)

    2 of 2 file rules unmet; 3 files changed according to stdin.
    --- stderr
    ");
    let before = file_contents(&project.root());
    insta::assert_snapshot!(project.run(&["rules", "import", ".deepwork.rules.yml", "--force"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `readme-accuracy` already exists in the project tier
     --> .deepwork.rules.yml:1:9
      |
    1 | - name: README Accuracy
      |         ^^^^^^^^^^^^^^^
      |
      = help: change the `name` here, or remove the entry

    error: rule `style` already exists in the project tier
     --> .deepwork.rules.yml:6:9
      |
    6 | - name: style
      |         ^^^^^
      |
      = help: change the `name` here, or remove the entry

    error: nothing was written
    ");
    assert_eq!(file_contents(&project.root()), before);
}

#[test]
fn import_prints_json_and_writes_to_the_selected_tier() {
    let project = project();
    project.file("old/.deepwork.policy.yml", "- {name: Only one, trigger: '*.sql', instructions: See the docs.}\n");
    let reply = project.run(&["rules", "import", "old/.deepwork.policy.yml", "--user", "--json"]);
    insta::assert_snapshot!(reply.transcript(), @r#"
    exit 0
    --- stdout
    {"changed":[{"file":"[BASE]/config/linchpin/rules/only-one.md","before":null,"after":"---\nname: 'Only one'\ntrigger: '**/*.sql'\n---\nSee the docs.\n"}],"rules":[{"id":"only-one","in_force":true}],"warnings":[],"rewritten":[{"rule":"only-one","key":"trigger","file":"old/.deepwork.policy.yml","line":1,"column":29,"before":"*.sql","after":"**/*.sql","why":["`*` crossed folders in the old format, but does not here"]}]}
    --- stderr
    "#);
    assert!(project.user_policy().join("rules/only-one.md").is_file());
    assert!(!project.root().join(".linchpin/rules/only-one.md").exists());
}

#[test]
fn a_list_with_errors_is_not_imported() {
    let project = project();
    project.file("secret.md", "secret").file(
        "old/.deepwork.rules.yml",
        "\
- name: Sound
  trigger: src/**
  instructions: Fine.
- name: Broken
  triger: src/**
  instructions_file: ../secret.md
  compare_to: yesterday
- name: hard reset
  trigger: '/abs'
  instructions: Text.
",
    );
    let before = file_contents(&project.root());
    let replies = [
        project.run(&["rules", "import", "old/.deepwork.rules.yml"]),
        project.run(&["rules", "import", "old/.deepwork.rules.yml", "--json"]),
        run_as_agent(&project, &["rules", "import", "old/.deepwork.rules.yml"], ""),
        project.run(&["rules", "import", "old/.deepwork.policy.yml"]),
    ];
    insta::assert_snapshot!(replies.map(|reply| reply.transcript()).join("\n"), @r#"
    exit 2
    --- stdout
    --- stderr
    error: the entry has no `trigger`
     --> old/.deepwork.rules.yml:4:3
      |
    4 | - name: Broken
      |   ^
      |
      = help: say which files it applies to: `trigger: src/**`

    error: unknown key `triger`
     --> old/.deepwork.rules.yml:5:3
      |
    5 |   triger: src/**
      |   ^^^^^^
      |
      = help: did you mean `trigger`?

    error: `../secret.md` is outside the list's folder
     --> old/.deepwork.rules.yml:6:22
      |
    6 |   instructions_file: ../secret.md
      |                      ^^^^^^^^^^^^
      |
      = help: copy the file next to the list, or put its text under `instructions`

    error: `compare_to` must be one of `base`, `default_tip`, `prompt`, not `yesterday`
     --> old/.deepwork.rules.yml:7:15
      |
    7 |   compare_to: yesterday
      |               ^^^^^^^^^

    error: a pattern cannot start with `/`
     --> old/.deepwork.rules.yml:9:13
      |
    9 |   trigger: '/abs'
      |             ^
      |
      = help: paths are relative to the project root

    error: nothing was written

    exit 2
    --- stdout
    {"error":{"kind":"MissingKey","message":"nothing was written: the entry has no `trigger`, and 4 more errors","file":"old/.deepwork.rules.yml","line":4,"column":3,"help":"say which files it applies to: `trigger: src/**`"}}
    --- stderr

    exit 2
    --- stdout
    --- stderr
    error: only people may run `linchpin rules import`, and `CLAUDECODE` shows that an agent started it
    help: run it in your own terminal

    exit 2
    --- stdout
    --- stderr
    error: `old/.deepwork.policy.yml` does not exist
    "#);
    assert_eq!(file_contents(&project.root()), before);
}
