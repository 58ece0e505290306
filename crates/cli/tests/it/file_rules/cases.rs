//! Test cases in file rules.

use super::project;

const RULE: &str = "\
---
name: Source and test together
set: ['src/{path}.py', 'tests/{path}_test.py']
exclude: '**/__init__.py'
tests:
  - {changed: [src/a.py], expect: unmet}
  - {changed: [src/a.py], expect: unmet, pairs: [[src/a.py, tests/a_test.py]]}
  - {changed: [src/a.py], created: [tests/a_test.py], expect: met}
  - {deleted: [src/a.py, tests/a_test.py], expect: met}
  - {created: [src/pkg/__init__.py], expect: met}
  - {changed: [README.md], expect: met, name: documentation needs no test}
---
Test it.
";

#[test]
fn passing_cases_are_counted() {
    let project = project();
    project.rule("source-test", RULE);
    project.rule("new", "---\ncreated: src/**\nwhen: not holiday\ntests:\n  - {created: [src/a], expect: unmet}\n  - {changed: [src/a], expect: met}\n  - {created: [src/a], variables: {holiday: true}, expect: met}\n---\nNo.\n");
    project.config("variables: {holiday: false}\n");
    project.file(
        ".linchpin/tests/all.yml",
        "- {changed: [src/a.py], expect: unmet}\n- {changed: [docs/a.md], expect: met}\n",
    );
    insta::assert_snapshot!(project.run(&["test"]).transcript(), @"
    exit 0
    --- stdout
    11 cases passed.
    --- stderr
    ");
}

#[test]
fn failing_cases_are_explained() {
    let project = project();
    let wrong =
        RULE.replace("tests/a_test.py]]}", "tests/b_test.py]]}").replace("expect: met, name", "expect: unmet, name");
    project.rule("source-test", &wrong.replace("exclude: '**/__init__.py'\n", ""));
    insta::assert_snapshot!(project.run(&["test"]).transcript(), @"
    exit 1
    --- stdout
    source-test: M src/a.py
      .linchpin/rules/source-test.md:6:5
      expected unmet (src/a.py → tests/b_test.py), got unmet (src/a.py → tests/a_test.py)
      source-test: block
        .linchpin/rules/source-test.md (project)
        files                true     src/a.py → tests/a_test.py

    source-test: A src/pkg/__init__.py
      .linchpin/rules/source-test.md:9:5
      expected met, got unmet (src/pkg/__init__.py → tests/pkg/__init___test.py)
      source-test: block
        .linchpin/rules/source-test.md (project)
        files                true     src/pkg/__init__.py → tests/pkg/__init___test.py

    source-test: documentation needs no test
      .linchpin/rules/source-test.md:10:5
      expected unmet, got met
      source-test: does not apply
        .linchpin/rules/source-test.md (project)
        files                false    nothing is missing

    3 cases passed, 3 failed.
    --- stderr
    ");
    let reply = project.run(&["test", "--json"]);
    assert_eq!((reply.code, reply.json()["failed"].clone()), (Some(1), 3.into()));
}

#[test]
fn invalid_cases_are_errors() {
    let project = project();
    project.rule("source-test", "---\nset: ['src/{path}.py', 'tests/{path}_test.py']\ntests:\n  - {changed: [src/a.py], expect: block}\n  - {changed: [src/a.py], command: x, expect: unmet}\n  - {changed: [src/a.py], expect: met, pairs: [[a, b]]}\n  - {changed: [src/a.py], expect: unmet, pairs: [[a]]}\n  - {changed: [/src/a.py], expect: unmet}\n  - {changed: [../a.py], created: [b], deleted: [b], expect: unmet}\n  - {command: ls, expect: met}\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["test"]).transcript(), @"
    exit 2
    --- stdout
    error: `expect` must be `met` or `unmet` here
     --> .linchpin/rules/source-test.md:4:27
      |
    4 |   - {changed: [src/a.py], expect: block}
      |                           ^^^^^^

    error: a case must have exactly one of `command`, `tool`, `event`, changed files and `events`
     --> .linchpin/rules/source-test.md:5:5
      |
    5 |   - {changed: [src/a.py], command: x, expect: unmet}
      |     ^
      |
      = help: write `command: git push`, or `tool: Write` with its `input`, or `event: {kind: stop}`, or `changed: [src/a.rs]`, or `events: [[5, command, cargo build]]` with `now: 60`

    error: `pairs` is only allowed with `expect: unmet`
     --> .linchpin/rules/source-test.md:6:40
      |
    6 |   - {changed: [src/a.py], expect: met, pairs: [[a, b]]}
      |                                        ^^^^^

    error: `pairs` must be a list of pairs: `[[src/a.rs, tests/a_test.rs]]`
     --> .linchpin/rules/source-test.md:7:49
      |
    7 |   - {changed: [src/a.py], expect: unmet, pairs: [[a]]}
      |                                                 ^

    error: `/src/a.py` is not a path relative to the project root
     --> .linchpin/rules/source-test.md:8:16
      |
    8 |   - {changed: [/src/a.py], expect: unmet}
      |                ^^^^^^^^^

    error: `../a.py` is not a path relative to the project root
     --> .linchpin/rules/source-test.md:9:16
      |
    9 |   - {changed: [../a.py], created: [b], deleted: [b], expect: unmet}
      |                ^^^^^^^

    error: `b` is listed twice
     --> .linchpin/rules/source-test.md:9:50
      |
    9 |   - {changed: [../a.py], created: [b], deleted: [b], expect: unmet}
      |                                                  ^

    error: `expect` must be `allow`, `warn`, `ask` or `block` here
      --> .linchpin/rules/source-test.md:10:19
       |
    10 |   - {command: ls, expect: met}
       |                   ^^^^^^

    8 errors in the policy files; no case was run.
    --- stderr
    ");
}

#[test]
fn cases_do_not_run_a_rules_command() {
    let project = project();
    project.rule("run", "---\ntrigger: src/**\naction: {command: 'touch ran'}\ntests:\n  - {changed: [src/a], expect: unmet}\n---\nNo.\n");
    project.run(&["trust", "--yes"]);
    assert_eq!(project.run(&["test"]).code, Some(0));
    assert!(!project.root().join("ran").exists());
}
