//! Errors in expressions, claims, variables and guides.

use std::os::unix::fs::symlink;

use super::{MINIMAL, validated, with_workflow};

#[test]
fn expressions_with_a_typo() {
    insta::assert_snapshot!(validated(
        r#"
start_node: work
variables: {reviewed: false}
claims: [needs_rework]
gates: {green: {command: make}}
rules: [{tools: [Bash], when: work_complete, reason: No.}]
triggers:
  before_tol: [{inject: x}]
  prompt: [{set: {reviwed: true, reviewed: "{{ reviwed }}"}, when: "1 +"}]
nodes:
  work:
    prompt: |
      Do the work.
      Then {{ reviwed }}.
    rules: [{tools: [Bash], when: phase.visits > 1, reason: No.}]
    requires: [reviwed, gren]
    exit_when: phase.seconds > 3
    transitions:
      - {when: work_complet, to: done}
      - {when: claims.rework, to: done}
"#
    ));
}

#[test]
fn claims_and_variables_need_distinct_names() {
    let text = MINIMAL
        .replace("nodes:", "variables: {rework: 1, work_complete: 2}\nclaims: [rework, 'two words', event]\nnodes:");
    insta::assert_snapshot!(validated(&text), @"
    error: `rework` is declared both as a claim and as a variable
     --> .linchpin/workflows/execution.yml:3:10
      |
    3 | claims: [rework, 'two words', event]
      |          ^^^^^^

    error: invalid variable name `two words`: use letters, digits and `_`, and start with a letter
     --> .linchpin/workflows/execution.yml:3:18
      |
    3 | claims: [rework, 'two words', event]
      |                  ^^^^^^^^^^^

    error: reserved variable name `event`: it already has a meaning in expressions
     --> .linchpin/workflows/execution.yml:3:31
      |
    3 | claims: [rework, 'two words', event]
      |                               ^^^^^

    error: `work_complete` is declared both as a claim and as a variable (node `work`)
     --> .linchpin/workflows/execution.yml:5:3
      |
    5 |   work:
      |   ^^^^

    2 rules in force, 1 workflow; 4 errors.
    ");
}

#[test]
fn errors_in_guides_are_reported() {
    let project = with_workflow(&MINIMAL.replace(
        "Work.",
        "\"{{ guide('SPEC_WRITTING') }} {{ guide('../config') }} {{ guide('ONE') }} {{ guide('LINK') }} {{ guide('D1') }} {{ guide(phase.name) }}\"",
    ));
    project.file(".linchpin/guides/ONE.md", "One.\n\n{{ guide('TWO') }}\n{{ missing }}\n");
    project.file(".linchpin/guides/TWO.md", "Two: {{ guide('ONE') }}\n");
    for depth in 1..=9 {
        project.file(&format!(".linchpin/guides/D{depth}.md"), format!("{{{{ guide('D{}') }}}}", depth + 1));
    }
    project.file(".linchpin/guides/D10.md", "The end.");
    project.file("secret.md", "Secret.");
    symlink("../../secret.md", project.root().join(".linchpin/guides/LINK.md")).expect("a symlink");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @r#"
    error: unknown guide `SPEC_WRITTING` (node `work`)
     --> .linchpin/workflows/execution.yml:4:24
      |
    4 |     prompt: "{{ guide('SPEC_WRITTING') }} {{ guide('../config') }} {{ guide('ONE') }} {{ guide('LINK') }} {{ guide('D1') }} {{ guide(...
      |                        ^^^^^^^^^^^^^
      |
      = help: did you mean `SPEC_WRITING`?

    error: invalid guide name `../config` (node `work`)
     --> .linchpin/workflows/execution.yml:4:53
      |
    4 |     prompt: "{{ guide('SPEC_WRITTING') }} {{ guide('../config') }} {{ guide('ONE') }} {{ guide('LINK') }} {{ guide('D1') }} {{ guide(...
      |                                                     ^^^^^^^^^
      |
      = help: write the name without folder and `.md`; it may have letters, digits, `-` and `_`

    error: `guide` needs the name of a guide in quotes (node `work`)
     --> .linchpin/workflows/execution.yml:4:128
      |
    4 | ...uide('ONE') }} {{ guide('LINK') }} {{ guide('D1') }} {{ guide(phase.name) }}"
      |                                                            ^^^^^^^^^^^^^^^^^
      |
      = help: write it as in `{{ guide('REVIEW') }}`

    error: guides are nested more than 8 deep: D1 → D2 → D3 → D4 → D5 → D6 → D7 → D8 → D9
     --> .linchpin/guides/D8.md:1:11
      |
    1 | {{ guide('D9') }}
      |           ^^

    error: this symlink leads out of the guides folder, so it is not followed
    --> .linchpin/guides/LINK.md

    error: unknown name `missing` (in a guide of workflow `execution`, .linchpin/workflows/execution.yml:4:78)
     --> .linchpin/guides/ONE.md:4:4
      |
    4 | {{ missing }}
      |    ^^^^^^^
      |
      = help: no guide is named `missing`: create `.linchpin/guides/missing.md`; a variable is declared under `variables:`

    error: guides include each other in a cycle: ONE → TWO → ONE
     --> .linchpin/guides/TWO.md:1:16
      |
    1 | Two: {{ guide('ONE') }}
      |                ^^^

    2 rules in force, 1 workflow; 7 errors.
    "#);
}

#[test]
fn a_project_cannot_declare_or_set_user_variables() {
    let project = with_workflow(&MINIMAL.replace(
        "nodes:",
        "variables: {hotfix: true}\nobservers: [{name: x, on: stop, match: {}, set: {hotfix: true}}]\ntriggers: {stop: [{set: {hotfix: true}}]}\nnodes:",
    ));
    std::fs::create_dir_all(project.user_policy()).expect("a directory");
    std::fs::write(project.user_policy().join("config.yml"), "variables: {hotfix: false}\n").expect("a file");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: the variable `hotfix` belongs to the user's policy
     --> .linchpin/workflows/execution.yml:2:13
      |
    2 | variables: {hotfix: true}
      |             ^^^^^^
      |
      = help: use a variable with another name

    error: the variable `hotfix` belongs to the user's policy
     --> .linchpin/workflows/execution.yml:3:13
      |
    3 | observers: [{name: x, on: stop, match: {}, set: {hotfix: true}}]
      |             ^
      |
      = help: use a variable with another name

    error: the variable `hotfix` belongs to the user's policy
     --> .linchpin/workflows/execution.yml:4:26
      |
    4 | triggers: {stop: [{set: {hotfix: true}}]}
      |                          ^^^^^^
      |
      = help: use a variable with another name

    2 rules in force, 1 workflow; 3 errors.
    ");
}
