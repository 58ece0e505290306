//! Rules in workflow files.

use super::{MINIMAL, validated, with_workflow};

#[test]
fn errors_name_the_node_and_index_of_a_rule() {
    let text = MINIMAL.replace(
        "    prompt: Work.",
        "    prompt: Work.\n    rules:\n      - no-such-rule\n      - {tools: [Bash], command_pattern: '(', reason: No.}\n    tool_rules:\n      - {on: stop, reason: No.}\n    check_rules: [hard-rest]\n    blocked_commands: ['[']",
    );
    insta::assert_snapshot!(validated(&text), @"
    error: there is no rule `no-such-rule` (node `work`, rule 1)
     --> .linchpin/workflows/execution.yml:6:9
      |
    6 |       - no-such-rule
      |         ^^^^^^^^^^^^
      |
      = help: known rules: delete-outside-project, force-push-protected, hard-reset, opaque-shell, people-only-commands, pipe-to-shell, protect-guardrails, read-secrets, repeated-failure, unguarded-agent

    error: invalid regex: unclosed group (node `work`, rule 2)
     --> .linchpin/workflows/execution.yml:7:43
      |
    7 |       - {tools: [Bash], command_pattern: '(', reason: No.}
      |                                           ^

    error: `tool_rules` must list tool rules, and this is not one (node `work`, `tool_rules` 1)
     --> .linchpin/workflows/execution.yml:9:9
      |
    9 |       - {on: stop, reason: No.}
      |         ^
      |
      = help: move it to `rules`

    error: there is no rule `hard-rest` (node `work`, `check_rules` 1)
      --> .linchpin/workflows/execution.yml:10:19
       |
    10 |     check_rules: [hard-rest]
       |                   ^^^^^^^^^
       |
       = help: did you mean `hard-reset`?

    error: invalid regex: unclosed character class (node `work`)
      --> .linchpin/workflows/execution.yml:11:25
       |
    11 |     blocked_commands: ['[']
       |                         ^

    2 rules in force, 1 workflow; 5 errors.
    ");
    let project = with_workflow(&text);
    let report = project.run(&["validate", "--json"]).json();
    let lines: Vec<String> = report["problems"].as_array().expect("a list").iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"severity":"error","kind":"UnknownRule","message":"there is no rule `no-such-rule` (node `work`, rule 1)","file":".linchpin/workflows/execution.yml","line":6,"column":9,"node":"work","help":"known rules: delete-outside-project, force-push-protected, hard-reset, opaque-shell, people-only-commands, pipe-to-shell, protect-guardrails, read-secrets, repeated-failure, unguarded-agent"}
    {"severity":"error","kind":"InvalidRulePattern","message":"invalid regex: unclosed group (node `work`, rule 2)","file":".linchpin/workflows/execution.yml","line":7,"column":43,"node":"work","rule":"execution/work/2"}
    {"severity":"error","kind":"InvalidValue","message":"`tool_rules` must list tool rules, and this is not one (node `work`, `tool_rules` 1)","file":".linchpin/workflows/execution.yml","line":9,"column":9,"node":"work","rule":"execution/work/4","help":"move it to `rules`"}
    {"severity":"error","kind":"UnknownRule","message":"there is no rule `hard-rest` (node `work`, `check_rules` 1)","file":".linchpin/workflows/execution.yml","line":10,"column":19,"node":"work","help":"did you mean `hard-reset`?"}
    {"severity":"error","kind":"InvalidRulePattern","message":"invalid regex: unclosed character class (node `work`)","file":".linchpin/workflows/execution.yml","line":11,"column":25,"node":"work"}
    "#);
}

#[test]
fn two_rules_with_the_same_name_are_reported() {
    let text = MINIMAL.replace(
        "    prompt: Work.",
        "    prompt: Work.\n    rules:\n      - {name: No push, tools: [Bash], reason: One.}\n      - {name: no push, tools: [Task], reason: Two.}",
    );
    insta::assert_snapshot!(validated(&text), @"
    error: duplicate rule name `execution/work/no-push` in this workflow
     --> .linchpin/workflows/execution.yml:7:9
      |
    7 |       - {name: no push, tools: [Task], reason: Two.}
      |         ^
      |
      = help: change the `name` of one of them

    2 rules in force, 1 workflow; 1 error.
    ");
}

#[test]
fn block_tools_without_a_call_is_reported() {
    let block = "{block_tools: [{tools: [Bash], reason: No.}]}";
    let text = MINIMAL
        .replace("nodes:", &format!("triggers: {{stop: [{block}]}}\nnodes:"))
        .replace("    prompt: Work.", &format!("    prompt: Work.\n    on_enter: [{block}]\n    on_exit: [{block}]"));
    insta::assert_snapshot!(validated(&text), @"
    error: `block_tools` cannot block anything on `stop`: the event has no tool call
     --> .linchpin/workflows/execution.yml:2:20
      |
    2 | triggers: {stop: [{block_tools: [{tools: [Bash], reason: No.}]}]}
      |                    ^^^^^^^^^^^
      |
      = help: move `block_tools` to `before_tool`, or move its rules to `rules`

    error: `block_tools` has no effect in `on_exit`: the node no longer blocks anything (node `work`)
     --> .linchpin/workflows/execution.yml:7:16
      |
    7 |     on_exit: [{block_tools: [{tools: [Bash], reason: No.}]}]
      |                ^^^^^^^^^^^
      |
      = help: move the rules to the `rules` of the node that they are for

    2 rules in force, 1 workflow; 2 errors.
    ");
}

#[test]
fn invalid_tool_lists_are_reported() {
    let text = MINIMAL.replace(
        "    prompt: Work.",
        "    prompt: Work.\n    allowed_tools: [Edit, bsh, '']\n    blocked_tools: [Read]\n    allowed_mcp_tools: [github]\n    blocked_mcp_tools: 7",
    );
    insta::assert_snapshot!(validated(&text), @"
    warning: no known agent has a tool `bsh` (node `work`)
     --> .linchpin/workflows/execution.yml:5:27
      |
    5 |     allowed_tools: [Edit, bsh, '']
      |                           ^^^
      |
      = help: did you mean `Bash`?

    error: the name is empty (node `work`)
     --> .linchpin/workflows/execution.yml:5:32
      |
    5 |     allowed_tools: [Edit, bsh, '']
      |                                ^^

    warning: `Read` is not blocked here, because reading is always allowed (node `work`)
     --> .linchpin/workflows/execution.yml:6:21
      |
    6 |     blocked_tools: [Read]
      |                     ^^^^
      |
      = help: to block it, add a rule under `rules`: `{tools: [Read], reason: …}`

    error: invalid MCP tool `github` (node `work`)
     --> .linchpin/workflows/execution.yml:7:25
      |
    7 |     allowed_mcp_tools: [github]
      |                         ^^^^^^
      |
      = help: write `server:tool`; either side may be `*`, as in `github:*`

    error: `blocked_mcp_tools` must be text or a list of texts, not a number (node `work`)
     --> .linchpin/workflows/execution.yml:8:24
      |
    8 |     blocked_mcp_tools: 7
      |                        ^

    2 rules in force, 1 workflow; 3 errors and 2 warnings.
    ");
}
