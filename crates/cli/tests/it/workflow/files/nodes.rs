//! Errors in keys, nodes and ways, and names of files.

use super::{LEAST, validated};
use crate::project;

#[test]
fn unknown_keys() {
    insta::assert_snapshot!(validated(
        "start_node: work\nnode: {}\nnodes:\n  work:\n    promt: Work.\n    prompt: Work.\n    transitions:\n      - {when: work_complete, target: done, to: done}\n    requires:\n      - {aproval: x, approval: y}\n    on_enter:\n      - {sett: {}, inject: x}\n"
    ), @"
    error: unknown key `node`
     --> .linchpin/workflows/execution.yml:2:1
      |
    2 | node: {}
      | ^^^^
      |
      = help: did you mean `nodes`?

    error: unknown key `promt` (node `work`)
     --> .linchpin/workflows/execution.yml:5:5
      |
    5 |     promt: Work.
      |     ^^^^^
      |
      = help: did you mean `prompt`?

    error: unknown key `target` (node `work`)
     --> .linchpin/workflows/execution.yml:8:31
      |
    8 |       - {when: work_complete, target: done, to: done}
      |                               ^^^^^^

    error: unknown key `aproval` (node `work`)
      --> .linchpin/workflows/execution.yml:10:10
       |
    10 |       - {aproval: x, approval: y}
       |          ^^^^^^^
       |
       = help: did you mean `approval`?

    error: unknown key `sett` (node `work`)
      --> .linchpin/workflows/execution.yml:12:10
       |
    12 |       - {sett: {}, inject: x}
       |          ^^^^
       |
       = help: did you mean `set`?

    2 rules in force, 1 workflow; 5 errors.
    ");
}

#[test]
fn unknown_nodes() {
    insta::assert_snapshot!(validated(
        "start_node: wrok\nnodes:\n  work:\n    prompt: Work.\n    transitions:\n      - {when: work_complete, to: finished}\n      - {when: work_complete, to: done}\n"
    ), @"
    error: `start_node` names `wrok`, and there is no such node
     --> .linchpin/workflows/execution.yml:1:13
      |
    1 | start_node: wrok
      |             ^^^^
      |
      = help: did you mean `work`?

    error: `to` names `finished`, and there is no such node (node `work`)
     --> .linchpin/workflows/execution.yml:6:35
      |
    6 |       - {when: work_complete, to: finished}
      |                                   ^^^^^^^^
      |
      = help: the nodes are work, done, aborted

    2 rules in force, 1 workflow; 2 errors.
    ");
}

#[test]
fn two_nodes_in_one_way() {
    insta::assert_snapshot!(validated(
        "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    transitions:\n      - {when: work_complete, to: 'rest, done'}\n      - {when: work_complete, to: [rest, done]}\n  rest: {prompt: Rest., transitions: [{when: rest_complete, to: done}]}\n"
    ), @"
    error: `to` names `rest, done`, and there is no such node (node `work`)
     --> .linchpin/workflows/execution.yml:6:35
      |
    6 |       - {when: work_complete, to: 'rest, done'}
      |                                   ^^^^^^^^^^^^
      |
      = help: it names one node; of several transitions the first whose `when` is true is taken

    error: `to` takes text, not a list (node `work`)
     --> .linchpin/workflows/execution.yml:7:35
      |
    7 |       - {when: work_complete, to: [rest, done]}
      |                                   ^

    2 rules in force, 1 workflow; 2 errors.
    ");
}

#[test]
fn missing_fields() {
    insta::assert_snapshot!(validated("variables: {}\n"), @"
    error: the workflow has no `nodes`
     --> .linchpin/workflows/execution.yml:1:1
      |
    1 | variables: {}
      | ^

    error: the workflow has no `start_node`
     --> .linchpin/workflows/execution.yml:1:1
      |
    1 | variables: {}
      | ^

    2 rules in force, 1 workflow; 2 errors.
    ");
    insta::assert_snapshot!(validated(
        "start_node: work\nnodes:\n  work:\n    transitions:\n      - {to: done}\n      - {when: work_complete}\n"
    ), @"
    error: the node `work` has no `prompt`
     --> .linchpin/workflows/execution.yml:3:3
      |
    3 |   work:
      |   ^^^^
      |
      = help: say what the agent is to do in this phase

    error: transition 1 has no `when` (node `work`)
     --> .linchpin/workflows/execution.yml:5:9
      |
    5 |       - {to: done}
      |         ^

    error: transition 2 has no `to` (node `work`)
     --> .linchpin/workflows/execution.yml:6:9
      |
    6 |       - {when: work_complete}
      |         ^

    2 rules in force, 1 workflow; 3 errors.
    ");
    insta::assert_snapshot!(validated(&LEAST.replace("prompt: Work.", "prompt: Work.\n    requires: [{webhook: {}}, {timeout: 1m}]\n    exit_conditions: [{type: expression}]")), @"
    error: the webhook has no `url` (node `work`)
     --> .linchpin/workflows/execution.yml:5:26
      |
    5 |     requires: [{webhook: {}}, {timeout: 1m}]
      |                          ^

    error: a gate has one of `command`, `shell`, `approval`, `webhook` and `file_rules` (node `work`)
     --> .linchpin/workflows/execution.yml:5:31
      |
    5 |     requires: [{webhook: {}}, {timeout: 1m}]
      |                               ^

    error: the gate has no `expression` (node `work`)
     --> .linchpin/workflows/execution.yml:6:23
      |
    6 |     exit_conditions: [{type: expression}]
      |                       ^

    2 rules in force, 1 workflow; 3 errors.
    ");
}

#[test]
fn shapes_that_lead_nowhere() {
    insta::assert_snapshot!(validated(
        "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    transitions: [{when: work_complete, to: done}, {when: 'True', to: trap}]\n  trap:\n    prompt: Wait.\n    transitions: [{when: trap_complete, to: aborted}]\n  island:\n    prompt: Rest.\n    transitions: [{when: island_complete, to: done}]\n"
    ), @"
    warning: from the node `trap`, no way leads to `done`
     --> .linchpin/workflows/execution.yml:6:3
      |
    6 |   trap:
      |   ^^^^
      |
      = help: add a transition, as `{when: …, to: done}`

    warning: no way leads to the node `island`
     --> .linchpin/workflows/execution.yml:9:3
      |
    9 |   island:
      |   ^^^^^^
      |
      = help: let a transition of another node lead there, or leave it out

    2 rules in force, 1 workflow; 2 warnings.
    ");
}

#[test]
fn names_and_files_that_cannot_be() {
    let project = project();
    project.file(".linchpin/workflows/list.yaml", LEAST);
    project.file(".linchpin/workflows/two words.yml", LEAST);
    project.file(".linchpin/workflows/list.yml", "- a\n");
    project.file(".linchpin/workflows/other.yml", LEAST.replace("start_node", "mode: another\nstart_node"));
    project.file(".linchpin/workflows/nodes.yml", LEAST.replace("work", "my-work"));
    project.file(
        ".linchpin/workflows/ends.yml",
        format!(
            "{}  done:\n    transitions: [{{when: 'True', to: work}}]\n",
            LEAST.replace("start_node: work", "start_node: done")
        ),
    );
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: `.linchpin/workflows/list.yaml` and `.linchpin/workflows/list.yml` are two workflows named `list`
    --> .linchpin/workflows/list.yaml
     = help: delete one of them or give it another name; until then the `.yml` counts

    error: a workflow cannot begin with `done`
     --> .linchpin/workflows/ends.yml:1:13
      |
    1 | start_node: done
      |             ^^^^

    error: nothing follows `done` (node `done`)
     --> .linchpin/workflows/ends.yml:7:5
      |
    7 |     transitions: [{when: 'True', to: work}]
      |     ^^^^^^^^^^^

    error: expected a mapping of fields, found a list
     --> .linchpin/workflows/list.yml:1:1
      |
    1 | - a
      | ^

    error: `my-work` cannot name a node
     --> .linchpin/workflows/nodes.yml:3:3
      |
    3 |   my-work:
      |   ^^^^^^^
      |
      = help: use letters, digits and `_`, beginning with a letter: `<node>_complete` is a name in expressions

    error: unknown name `my` (node `my-work`)
     --> .linchpin/workflows/nodes.yml:5:26
      |
    5 |     transitions: [{when: my-work_complete, to: done}]
      |                          ^^
      |
      = help: a claim is declared with `claims: [my]`, a variable under `variables:`, both in this workflow

    error: unknown name `work_complete` (node `my-work`)
     --> .linchpin/workflows/nodes.yml:5:29
      |
    5 |     transitions: [{when: my-work_complete, to: done}]
      |                             ^^^^^^^^^^^^^
      |
      = help: did you mean `my-work_complete`?

    error: `mode` says `another`, and the file's name says `other`
     --> .linchpin/workflows/other.yml:1:7
      |
    1 | mode: another
      |       ^^^^^^^
      |
      = help: the file's name is the workflow's: leave `mode` out

    error: `two words` cannot name a workflow
    --> .linchpin/workflows/two words.yml
     = help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit

    2 rules in force, 4 workflows; 9 errors.
    ");
}
