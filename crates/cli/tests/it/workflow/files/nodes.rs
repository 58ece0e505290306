//! Errors in keys, nodes, transitions and file names.

use super::{MINIMAL, validated};
use crate::project;

#[test]
fn unknown_keys_are_reported() {
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
fn unknown_nodes_are_reported() {
    insta::assert_snapshot!(validated(
        "start_node: wrok\nnodes:\n  work:\n    prompt: Work.\n    transitions:\n      - {when: work_complete, to: finished}\n      - {when: work_complete, to: done}\n"
    ), @"
    error: `start_node` names the unknown node `wrok`
     --> .linchpin/workflows/execution.yml:1:13
      |
    1 | start_node: wrok
      |             ^^^^
      |
      = help: did you mean `work`?

    error: `to` names the unknown node `finished` (node `work`)
     --> .linchpin/workflows/execution.yml:6:35
      |
    6 |       - {when: work_complete, to: finished}
      |                                   ^^^^^^^^
      |
      = help: known nodes: work, done, aborted

    2 rules in force, 1 workflow; 2 errors.
    ");
}

#[test]
fn several_targets_in_one_transition_are_reported() {
    insta::assert_snapshot!(validated(
        "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    transitions:\n      - {when: work_complete, to: 'rest, done'}\n      - {when: work_complete, to: [rest, done]}\n  rest: {prompt: Rest., transitions: [{when: rest_complete, to: done}]}\n"
    ), @"
    error: `to` names the unknown node `rest, done` (node `work`)
     --> .linchpin/workflows/execution.yml:6:35
      |
    6 |       - {when: work_complete, to: 'rest, done'}
      |                                   ^^^^^^^^^^^^
      |
      = help: write the name of one node; of several transitions, the first whose `when` is true is taken

    error: `to` must be text, not a list (node `work`)
     --> .linchpin/workflows/execution.yml:7:35
      |
    7 |       - {when: work_complete, to: [rest, done]}
      |                                   ^

    2 rules in force, 1 workflow; 2 errors.
    ");
}

#[test]
fn missing_fields_are_reported() {
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
      = help: write a `prompt` that says what the agent has to do in this phase

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
    insta::assert_snapshot!(validated(&MINIMAL.replace("prompt: Work.", "prompt: Work.\n    requires: [{webhook: {}}, {timeout: 1m}]\n    exit_conditions: [{type: expression}]")), @"
    error: the webhook has no `url` (node `work`)
     --> .linchpin/workflows/execution.yml:5:26
      |
    5 |     requires: [{webhook: {}}, {timeout: 1m}]
      |                          ^

    error: a gate must have one of `command`, `shell`, `approval`, `webhook` and `file_rules` (node `work`)
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
fn nodes_without_a_path_to_the_end_are_reported() {
    insta::assert_snapshot!(validated(
        "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    transitions: [{when: work_complete, to: done}, {when: 'True', to: trap}]\n  trap:\n    prompt: Wait.\n    transitions: [{when: trap_complete, to: aborted}]\n  island:\n    prompt: Rest.\n    transitions: [{when: island_complete, to: done}]\n"
    ), @"
    warning: no path leads from the node `trap` to `done`
     --> .linchpin/workflows/execution.yml:6:3
      |
    6 |   trap:
      |   ^^^^
      |
      = help: add a transition such as `{when: …, to: done}`

    warning: the node `island` is unreachable
     --> .linchpin/workflows/execution.yml:9:3
      |
    9 |   island:
      |   ^^^^^^
      |
      = help: add a transition to it in another node, or remove it

    2 rules in force, 1 workflow; 2 warnings.
    ");
}

#[test]
fn invalid_names_and_files_are_reported() {
    let project = project();
    project.file(".linchpin/workflows/list.yaml", MINIMAL);
    project.file(".linchpin/workflows/two words.yml", MINIMAL);
    project.file(".linchpin/workflows/list.yml", "- a\n");
    project.file(".linchpin/workflows/other.yml", MINIMAL.replace("start_node", "mode: another\nstart_node"));
    project.file(".linchpin/workflows/nodes.yml", MINIMAL.replace("work", "my-work"));
    project.file(
        ".linchpin/workflows/ends.yml",
        format!(
            "{}  done:\n    transitions: [{{when: 'True', to: work}}]\n",
            MINIMAL.replace("start_node: work", "start_node: done")
        ),
    );
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: `.linchpin/workflows/list.yaml` and `.linchpin/workflows/list.yml` are both workflows named `list`
    --> .linchpin/workflows/list.yaml
     = help: delete or rename one of them; until then the `.yml` file is used

    error: `done` cannot be the `start_node`
     --> .linchpin/workflows/ends.yml:1:13
      |
    1 | start_node: done
      |             ^^^^

    error: `done` cannot have transitions (node `done`)
     --> .linchpin/workflows/ends.yml:7:5
      |
    7 |     transitions: [{when: 'True', to: work}]
      |     ^^^^^^^^^^^

    error: expected a mapping of fields, found a list
     --> .linchpin/workflows/list.yml:1:1
      |
    1 | - a
      | ^

    error: invalid node name `my-work`
     --> .linchpin/workflows/nodes.yml:3:3
      |
    3 |   my-work:
      |   ^^^^^^^
      |
      = help: use letters, digits and `_`, and start with a letter: expressions use `<node>_complete` as a name

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

    error: `mode` is `another`, but the file is named `other`
     --> .linchpin/workflows/other.yml:1:7
      |
    1 | mode: another
      |       ^^^^^^^
      |
      = help: remove `mode`: the workflow is named after its file

    error: invalid workflow name `two words`
    --> .linchpin/workflows/two words.yml
     = help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit

    2 rules in force, 4 workflows; 9 errors.
    ");
}
