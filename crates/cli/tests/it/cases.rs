//! `linchpin test`: runs the test cases in rules, and the test cases of the whole policy.

use super::{project, project_without_policy};

const RULE: &str = "\
---
command_pattern: '^danger( |$)'
when: not variables.holiday and git.branch != 'sandbox'
tests:
  - command: danger --now
    expect: block
  - command: safety
    expect: allow
  - {command: danger, variables: {holiday: true}, expect: allow}
  - name: allowed in the sandbox
    command: danger
    git: {branch: sandbox}
    expect: allow
---
Use `safety`.
";

const STOP: &str = "\
---
on: stop
when: \"'done' not in (event.message or '')\"
action: block
tests:
  - event: {message: All done.}
    expect: allow
  - event: {kind: stop, message: More to come.}
    expect: block
---
Say when you are done.
";

#[test]
fn invalid_cases_are_counted() {
    let project = project();
    project.rule("no-danger", "---\ncommand_pattern: ^danger\ntests:\n  - {command: danger, expect: block}\n  - {command: danger, expect: blok}\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["test"]).transcript(), @"
    exit 2
    --- stdout
    error: `expect` must be one of `allow`, `warn`, `ask`, `block`, `met`, `unmet`, `fires`, `quiet`, not `blok`
     --> .linchpin/rules/no-danger.md:5:31
      |
    5 |   - {command: danger, expect: blok}
      |                               ^^^^
      |
      = help: did you mean `block`?

    1 case passed; 1 error in the policy files, whose cases were not run.
    --- stderr
    ");
}

#[test]
fn passing_cases_are_counted() {
    let project = project();
    project.config("variables: {holiday: false}\n").rule("no-danger", RULE).rule("say-done", STOP);
    project.file(
        ".linchpin/tests/all.yml",
        "- {command: 'safety && danger', expect: block}\n- {tool: Read, input: {file_path: a.txt}, expect: allow}\n- {tool: Write, input: {file_path: .linchpin/config.yml, content: x}, expect: block}\n- {event: {kind: stop}, expect: block}\n",
    );
    project.rule("writes", "---\nwrites: ['docs/**']\naction: ask\ntests:\n  - {tool: Write, input: {file_path: docs/a.md}, expect: ask}\n  - {tool: Edit, input: {file_path: /project/docs/a.md}, expect: ask}\n  - {tool: Read, input: {file_path: docs/a.md}, expect: allow}\n---\nAsk.\n");
    insta::assert_snapshot!(project.run(&["test"]).transcript(), @"
    exit 0
    --- stdout
    13 cases passed.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["test", "no-danger", "--json"]).stdout, @r#"{"passed":4,"failed":0,"cases":[{"rule":"no-danger","name":"danger --now","file":".linchpin/rules/no-danger.md","line":5,"column":5,"expect":"block","got":"block","passed":true,"rules":[{"rule":"no-danger","tier":"project","source":".linchpin/rules/no-danger.md","outcome":"block","clauses":[{"key":"command_pattern","truth":"true","compared":"danger --now"},{"key":"when","truth":"true","compared":"not variables.holiday and git.branch != 'sandbox'"}]}]},{"rule":"no-danger","name":"safety","file":".linchpin/rules/no-danger.md","line":7,"column":5,"expect":"allow","got":"allow","passed":true,"rules":[{"rule":"no-danger","tier":"project","source":".linchpin/rules/no-danger.md","outcome":"does not apply","clauses":[{"key":"command_pattern","truth":"false","compared":"safety"},{"key":"when","truth":"true","compared":"not variables.holiday and git.branch != 'sandbox'"}]}]},{"rule":"no-danger","name":"danger","file":".linchpin/rules/no-danger.md","line":9,"column":5,"expect":"allow","got":"allow","passed":true,"rules":[{"rule":"no-danger","tier":"project","source":".linchpin/rules/no-danger.md","outcome":"does not apply","clauses":[{"key":"command_pattern","truth":"true","compared":"danger"},{"key":"when","truth":"false","compared":"not variables.holiday and git.branch != 'sandbox'"}]}]},{"rule":"no-danger","name":"allowed in the sandbox","file":".linchpin/rules/no-danger.md","line":10,"column":5,"expect":"allow","got":"allow","passed":true,"rules":[{"rule":"no-danger","tier":"project","source":".linchpin/rules/no-danger.md","outcome":"does not apply","clauses":[{"key":"command_pattern","truth":"true","compared":"danger"},{"key":"when","truth":"false","compared":"not variables.holiday and git.branch != 'sandbox'"}]}]}],"problems":[]}"#);
    insta::assert_snapshot!(project.run(&["test", "no-such"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no rule `no-such`
    help: `linchpin rules list` lists the rules
    ");
}

#[test]
fn failing_cases_are_explained() {
    let project = project();
    project.config("variables: {holiday: true}\n").rule("no-danger", RULE);
    project.file(".linchpin/tests/all.yml", "- {command: danger, expect: block}\n- name: Guardrails\n  tool: Write\n  input: {file_path: .linchpin/config.yml}\n  expect: allow\n");
    insta::assert_snapshot!(project.run(&["test"]).transcript(), @"
    exit 1
    --- stdout
    no-danger: danger --now
      .linchpin/rules/no-danger.md:5:5
      expected block, got allow
      no-danger: does not apply
        .linchpin/rules/no-danger.md (project)
        command_pattern      true     `danger --now`
        when                 false    `not variables.holiday and git.branch != 'sandbox'`

    danger
      .linchpin/tests/all.yml:1:3
      expected block, got allow
      no rule has a condition that applies to this case

    Guardrails
      .linchpin/tests/all.yml:2:3
      expected allow, got block
      protect-guardrails: block
        bundled rule protect-guardrails (bundled)
        tools                true     Write
        writes               true     .linchpin/config.yml

    3 cases passed, 3 failed.
    --- stderr
    ");
    let reply = project.run(&["test", "--json"]);
    assert_eq!(reply.code, Some(1));
    assert_eq!(reply.json()["failed"], 3);
}

#[test]
fn cases_of_an_approving_rule_are_judged() {
    let project = project();
    project.rule("looking", "---\ncommand_pattern: '^ls( |$)'\naction: allow\ntests:\n  - {command: ls -l, expect: allow}\n  - {command: ls; rm x, expect: ask}\n  - {command: 'ls $(x)', expect: allow}\n---\nLooking is fine.\n");
    insta::assert_snapshot!(project.run(&["test"]).transcript(), @"
    exit 1
    --- stdout
    looking: ls $(x)
      .linchpin/rules/looking.md:7:5
      expected allow, got ask
      looking: allow
        .linchpin/rules/looking.md (project)
        command_pattern      true     `ls $(x)`

    2 cases passed, 1 failed.
    --- stderr
    ");
}

#[test]
fn invalid_cases_are_errors() {
    let project = project();
    project.rule("no-danger", "---\ncommand_pattern: '^danger'\ntests:\n  - {comand: x, expect: block}\n  - {command: x, expect: deny}\n  - {command: x}\n  - {command: x, tool: Bash, expect: block}\n  - {event: {kind: stopp, colour: red}, expect: block}\n  - {changed: [a], expect: met}\n  - {command: x, variables: [1], expect: block}\n  - {event: {message: x}, input: {}, expect: allow}\n---\nNo.\n");
    project.file(".linchpin/tests/odd.yml", "a: b\n").file(".linchpin/tests/broken.yml", "- {\n");
    // Errors in its test cases do not affect a rule: it stays in force.
    assert_eq!(project.decision("danger"), "deny");
    insta::assert_snapshot!(project.run(&["test"]).transcript(), @"
    exit 2
    --- stdout
    error: a case must have exactly one of `command`, `tool`, `event`, changed files and `events`
     --> .linchpin/rules/no-danger.md:4:5
      |
    4 |   - {comand: x, expect: block}
      |     ^
      |
      = help: write `command: git push`, or `tool: Write` with its `input`, or `event: {kind: stop}`, or `changed: [src/a.rs]`, or `events: [[5, command, cargo build]]` with `now: 60`

    error: unknown key `comand`
     --> .linchpin/rules/no-danger.md:4:6
      |
    4 |   - {comand: x, expect: block}
      |      ^^^^^^
      |
      = help: did you mean `command`?

    error: `expect` must be one of `allow`, `warn`, `ask`, `block`, `met`, `unmet`, `fires`, `quiet`, not `deny`
     --> .linchpin/rules/no-danger.md:5:26
      |
    5 |   - {command: x, expect: deny}
      |                          ^^^^
      |
      = help: did you mean `block`?

    error: the case has no `expect`
     --> .linchpin/rules/no-danger.md:6:5
      |
    6 |   - {command: x}
      |     ^
      |
      = help: add `expect: allow`, `warn`, `ask` or `block`; for files, `met` or `unmet`; for a phase, `fires` or `quiet`

    error: a case must have exactly one of `command`, `tool`, `event`, changed files and `events`
     --> .linchpin/rules/no-danger.md:7:5
      |
    7 |   - {command: x, tool: Bash, expect: block}
      |     ^
      |
      = help: write `command: git push`, or `tool: Write` with its `input`, or `event: {kind: stop}`, or `changed: [src/a.rs]`, or `events: [[5, command, cargo build]]` with `now: 60`

    error: unknown event `stopp`
     --> .linchpin/rules/no-danger.md:8:20
      |
    8 |   - {event: {kind: stopp, colour: red}, expect: block}
      |                    ^^^^^
      |
      = help: did you mean `stop`?

    error: unknown key `colour`
     --> .linchpin/rules/no-danger.md:8:27
      |
    8 |   - {event: {kind: stopp, colour: red}, expect: block}
      |                           ^^^^^^

    error: `variables` must be a mapping of names to values
      --> .linchpin/rules/no-danger.md:10:29
       |
    10 |   - {command: x, variables: [1], expect: block}
       |                             ^

    error: `input` needs a `tool`
      --> .linchpin/rules/no-danger.md:11:34
       |
    11 |   - {event: {message: x}, input: {}, expect: allow}
       |                                  ^

    error: invalid YAML: unclosed bracket '{'
     --> .linchpin/tests/broken.yml:1:3
      |
    1 | - {
      |   ^

    error: a file of cases must be a list, not a mapping
     --> .linchpin/tests/odd.yml:1:1
      |
    1 | a: b
      | ^

    1 case passed; 11 errors in the policy files, whose cases were not run.
    --- stderr
    ");
    assert_eq!(project.run(&["validate"]).code, Some(2));
}

#[test]
fn missing_cases_are_reported() {
    insta::assert_snapshot!(project().run(&["test"]).transcript(), @"
    exit 0
    --- stdout
    No cases: write them under a rule's `tests`, or in `.linchpin/tests/*.yml`.
    --- stderr
    ");
    insta::assert_snapshot!(project_without_policy().run(&["test"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `linchpin init` writes one
    ");
}
