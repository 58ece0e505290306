//! Gates in workflow files.

use super::{MINIMAL, validated, with_workflow};

#[test]
fn unknown_rules_in_a_file_rule_gate_get_suggestions() {
    let text = MINIMAL
        .replace("    prompt: Work.", "    prompt: Work.\n    requires: [{file_rules: [parings, hard-reset, else]}]");
    let project = with_workflow(&text);
    project.rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}.rs']\n---\nChange both.\n");
    project.rule("paring", "---\ncommand_pattern: ^pare\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: there is no rule `parings` (node `work`)
     --> .linchpin/workflows/execution.yml:5:30
      |
    5 |     requires: [{file_rules: [parings, hard-reset, else]}]
      |                              ^^^^^^^
      |
      = help: did you mean `pairing`?

    error: `hard-reset` is not a file rule (node `work`)
     --> .linchpin/workflows/execution.yml:5:39
      |
    5 |     requires: [{file_rules: [parings, hard-reset, else]}]
      |                                       ^^^^^^^^^^
      |
      = help: known file rules: pairing

    error: there is no rule `else` (node `work`)
     --> .linchpin/workflows/execution.yml:5:51
      |
    5 |     requires: [{file_rules: [parings, hard-reset, else]}]
      |                                                   ^^^^
      |
      = help: known file rules: pairing

    note: file rules are off: [BASE]/project is not in a git repository

    4 rules in force, 1 workflow; 3 errors.
    ");
}

#[test]
fn errors_in_gates_are_reported() {
    let text = MINIMAL.replace(
        "    prompt: Work.",
        r#"    prompt: Work.
    requires:
      - {approval: x, command: y}
      - {command: "make 'x", timeout: 2h}
      - {webhook: {url: "http://example.com", expect: {status: 7}}}
      - {webhook: {url: "https://me:secret@example.com"}}
      - {webhook: {url: "http://127.0.0.1:9/x", headers: {"a b": c}}}
      - {file_rules: [hard-reset, no-such]}
      - 7
    exit_conditions:
      - {type: expression, expression: "True"}
      - {type: user_approval, prompt: "Ship it?"}
      - {type: telephone}"#,
    );
    insta::assert_snapshot!(validated(&text));
}

#[test]
fn unused_gates_are_warned_about() {
    let end = MINIMAL.to_owned() + "  done:\n    prompt: Bye.\n    requires: ['git.dirty == false']\n";
    insta::assert_snapshot!(validated(&end), @"
    error: `requires` of `done` is never checked: gates are checked when a node is left (node `done`)
     --> .linchpin/workflows/execution.yml:8:5
      |
    8 |     requires: ['git.dirty == false']
      |     ^^^^^^^^
      |
      = help: write them on the transition that leads here: `{when: …, to: done, requires: […]}`

    2 rules in force, 1 workflow; 1 error.
    ");
    let unused = MINIMAL.to_owned() + "gates:\n  green: {command: cargo test}\n";
    insta::assert_snapshot!(validated(&unused), @"
    warning: nothing requires the gate `green`, so it is never checked
     --> .linchpin/workflows/execution.yml:7:3
      |
    7 |   green: {command: cargo test}
      |   ^^^^^
      |
      = help: add it where it must hold, as `requires: [green]`, or remove it

    note: .linchpin/workflows/execution.yml: until you run `linchpin trust`, these gates are not met: gate `green`: runs `cargo test`

    2 rules in force, 1 workflow; 1 warning.
    ");
    let used = unused.replace("to: done}", "to: done, requires: [green]}");
    assert!(!validated(&used).contains("nothing requires"));
}

#[test]
fn a_gate_on_an_impossible_value_is_an_error() {
    let gate = |variables: &str, value: &str| {
        let gate = format!("requires: [{{type: variable_set, variable: st, value: {value}}}]");
        let text = MINIMAL.replace("    prompt: Work.\n", &format!("    prompt: Work.\n    {gate}\n"));
        with_workflow(&format!("variables: {{{variables}}}\n{text}")).run(&["validate"])
    };
    insta::assert_snapshot!(gate("st: false", "ready").stdout, @r#"
    warning: `type: variable_set` is an old syntax of gates (node `work`)
     --> .linchpin/workflows/execution.yml:6:17
      |
    6 |     requires: [{type: variable_set, variable: st, value: ready}]
      |                 ^^^^
      |
      = help: write `st == "ready"`

    error: `value` is `"ready"`, but `st` is declared as a boolean (`false`), so the gate never passes (node `work`)
     --> .linchpin/workflows/execution.yml:6:58
      |
    6 |     requires: [{type: variable_set, variable: st, value: ready}]
      |                                                          ^^^^^
      |
      = help: write a boolean here, or declare `st` as text: `variables: {st: ""}`

    2 rules in force, 1 workflow; 1 error and 1 warning.
    "#);
    assert_eq!(gate("st: 1", "'2'").code, Some(2));
    for (variables, value) in [("st: false", "true"), ("st: 1", "2"), ("st: ''", "ready"), ("st: null", "ready")] {
        assert_eq!(gate(variables, value).code, Some(0), "{variables} {value}");
    }
}
