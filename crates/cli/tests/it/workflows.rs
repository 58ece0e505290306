//! Workflows: how their files are read, what is said of them, and how they are shown.

use std::os::unix::fs::symlink;

use super::{bare, project};
use testkit::Scratch;

/// Everything that the format has a plain form for.
const EXECUTION: &str = r#"
start_node: spec
variables: {reviewed: false, research: false, tests_ran: false}
claims: [needs_rework]
rule_definitions:
  no-push: {tools: [Bash], command_pattern: "^git push", reason: "Review first."}
  pairing: {set: ["src/{path}.rs", "tests/{path}.rs"], reason: "Change the test too."}
rules:
  - {tools: [WebFetch], action: ask, reason: "Network while building?"}
gates: {green: {command: "cargo test", timeout: 10m}}
triggers:
  before_tool:
    - {block_tools: [{tools: [WebSearch], reason: "Not now."}], when: "not variables.research"}
  session_start: [{inject: "Read docs/plan.md first."}]
nodes:
  spec:
    prompt: "Write the spec. {{ guide('SPEC_WRITING') }}"
    transitions: [{when: spec_complete, to: code}]
  code:
    prompt: |
      Write the code.
      {% if phase.visit > 1 %}
      It was sent back.
      {% endif %}
    rules:
      - no-push
      - {tools: [Task], reason: "Alone."}
    on_enter: [{set: {reviewed: false}}]
    requires: ["tests_ran and not git.dirty", green, {approval: "Ship it?"}]
    transitions:
      - {when: "code_complete and reviewed", to: done}
      - {when: needs_rework, to: spec}
      - {when: code_complete, to: review, requires: [{file_rules: [pairing]}]}
  review:
    prompt: Read it.
    transitions: [{when: review_complete, to: done}, {when: needs_rework, to: code}]
"#;

/// The least that a workflow has.
const LEAST: &str =
    "start_node: work\nnodes:\n  work:\n    prompt: Work.\n    transitions: [{when: work_complete, to: done}]\n";

fn with_workflow(text: &str) -> Scratch {
    let project = project();
    project.file(".linchpin/workflows/execution.yml", text);
    project.file(".linchpin/guides/SPEC_WRITING.md", "Say what, not how.\n");
    project
}

/// What `validate` prints about one workflow.
fn validated(text: &str) -> String {
    with_workflow(text).run(&["validate"]).stdout
}

#[test]
fn a_sound_workflow() {
    insta::assert_snapshot!(with_workflow(EXECUTION).run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    note: .linchpin/workflows/execution.yml: what needs trust in it does not count until a person accepts it with `linchpin trust` (gate green: runs cargo test)

    2 rules in force, 1 workflow, everything is sound.
    --- stderr
    ");
}

#[test]
fn it_is_drawn() {
    let project = with_workflow(EXECUTION);
    insta::assert_snapshot!(project.run(&["workflows", "show", "execution"]).stdout, @"
    execution, from spec
    rule execution/1: ask, Network while building?
    rule execution/2: block, Not now.

    spec
      → code when spec_complete

    code
      rule execution/no-push: block, Review first.
      rule execution/code/2: block, Alone.
      requires tests_ran and not git.dirty
      requires command cargo test
      requires approval: Ship it?
      → done when code_complete and reviewed
      → spec when needs_rework
      → review when code_complete
          requires file rules execution/pairing

    review
      → done when review_complete
      → code when needs_rework
    ");
    insta::assert_snapshot!(project.run(&["workflows", "show", "execution", "--format", "mermaid"]).stdout, @r#"
    flowchart TD
      n0(["spec"])
      n1["code"]
      n2["review"]
      n3(["done"])
      n0 -->|"spec_complete"| n1
      n1 -->|"code_complete and reviewed"| n3
      n1 -->|"needs_rework"| n0
      n1 -->|"code_complete"| n2
      n2 -->|"review_complete"| n3
      n2 -->|"needs_rework"| n1
    "#);
    insta::assert_snapshot!(project.run(&["workflows", "show", "execution", "--format", "dot"]).stdout, @r#"
    digraph "execution" {
      "spec" [shape=oval];
      "code" [shape=box];
      "review" [shape=box];
      "done" [shape=oval];
      "spec" -> "code" [label="spec_complete"];
      "code" -> "done" [label="code_complete and reviewed"];
      "code" -> "spec" [label="needs_rework"];
      "code" -> "review" [label="code_complete"];
      "review" -> "done" [label="review_complete"];
      "review" -> "code" [label="needs_rework"];
    }
    "#);
    let shown = project.run(&["workflows", "show", "execution", "--json"]).json();
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown).expect("JSON"));
}

#[test]
fn its_file_can_be_made_ones_own() {
    let scratch = project();
    let printed = scratch.run(&["workflows", "show", "execution", "--format", "yaml"]);
    scratch.file(".linchpin/workflows/execution.yml", printed.stdout);
    assert_eq!(scratch.run(&["validate"]).code, Some(0));
    let json = scratch.run(&["workflows", "show", "execution", "--json"]).json();
    assert_eq!(json["source"], ".linchpin/workflows/execution.yml");
}

#[test]
fn the_nearer_hides_the_farther() {
    let project = with_workflow(EXECUTION);
    let user = project.user_policy().join("workflows");
    std::fs::create_dir_all(&user).expect("a folder");
    std::fs::write(user.join("execution.yml"), LEAST).expect("a file");
    std::fs::write(user.join("quickly.yml"), LEAST).expect("a file");
    project.file(".linchpin/workflows/wrong.yml", "start_node: x\n");
    insta::assert_snapshot!(project.run(&["workflows"]).stdout, @"
    developer  bundled  claim, plan, code, test, review, commit (bundled workflow developer)
    discovery  bundled  spec, plan, code, learnings, readme (bundled workflow discovery)
    execution  project  spec, code, review (.linchpin/workflows/execution.yml; hides that of user, bundled)
    quick      bundled  code, test (bundled workflow quick)
    quickly    user     work ([BASE]/config/linchpin/workflows/quickly.yml)
    refactor   bundled  survey, pin, change, review (bundled workflow refactor)
    research   bundled  plan, study, assess, questions (bundled workflow research)
    wrong      project  broken: `linchpin validate` tells (.linchpin/workflows/wrong.yml)
    ");
    insta::assert_snapshot!(project.run(&["workflows", "--json"]).stdout, @r#"{"workflows":[{"name":"developer","tier":"bundled","source":"bundled workflow developer","sound":true,"digest":"709d8a4604c9dd522ce974c0","nodes":["claim","plan","code","test","review","commit"],"hides":[]},{"name":"discovery","tier":"bundled","source":"bundled workflow discovery","sound":true,"digest":"66b839653f6aadc6b40dece6","nodes":["spec","plan","code","learnings","readme"],"hides":[]},{"name":"execution","tier":"project","source":".linchpin/workflows/execution.yml","sound":true,"digest":"913d26df310805ce20d1429c","nodes":["spec","code","review"],"hides":[{"tier":"user","source":"[BASE]/config/linchpin/workflows/execution.yml"},{"tier":"bundled","source":"bundled workflow execution"}]},{"name":"quick","tier":"bundled","source":"bundled workflow quick","sound":true,"digest":"39995a4ad59b54611b038a4d","nodes":["code","test"],"hides":[]},{"name":"quickly","tier":"user","source":"[BASE]/config/linchpin/workflows/quickly.yml","sound":true,"digest":"076dc38e920ae3d1d72e0722","nodes":["work"],"hides":[]},{"name":"refactor","tier":"bundled","source":"bundled workflow refactor","sound":true,"digest":"2251b44b59bf3e33744a1b81","nodes":["survey","pin","change","review"],"hides":[]},{"name":"research","tier":"bundled","source":"bundled workflow research","sound":true,"digest":"f66a6f05245f2608b2a05e13","nodes":["plan","study","assess","questions"],"hides":[]},{"name":"wrong","tier":"project","source":".linchpin/workflows/wrong.yml","sound":false,"digest":null,"nodes":null,"hides":[]}]}"#);
    insta::assert_snapshot!(project.run(&["workflows", "show", "wrong"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the workflow `wrong` has errors
    help: `linchpin validate` tells
    ");
    insta::assert_snapshot!(project.run(&["workflows", "show", "execusion"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no workflow is named `execusion`
    help: did you mean `execution`?
    ");
    insta::assert_snapshot!(project.run(&["workflows", "show", "execusion", "--json"]).stdout, @r#"{"error":{"kind":"NotFound","message":"no workflow is named `execusion`","help":"did you mean `execution`?"}}"#);
}

#[test]
fn a_folder_of_workflows_is_a_policy() {
    let project = bare();
    project.file(".linchpin/workflows/work.yml", LEAST);
    assert_eq!(project.run(&["validate"]).code, Some(0));
    let listed = project.run(&["workflows", "--json"]).json();
    let of_project = listed["workflows"].as_array().into_iter().flatten().find(|found| found["tier"] == "project");
    assert_eq!(of_project.map(|found| &found["name"]), Some(&"work".into()));
}

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
fn a_gate_of_file_rules_suggests_file_rules() {
    let text = LEAST
        .replace("    prompt: Work.", "    prompt: Work.\n    requires: [{file_rules: [parings, hard-reset, else]}]");
    let project = with_workflow(&text);
    project.rule("pairing", "---\nset: ['src/{name}.rs', 'tests/{name}.rs']\n---\nChange both.\n");
    project.rule("paring", "---\ncommand_pattern: ^pare\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: no rule is named `parings` (node `work`)
     --> .linchpin/workflows/execution.yml:5:30
      |
    5 |     requires: [{file_rules: [parings, hard-reset, else]}]
      |                              ^^^^^^^
      |
      = help: did you mean `pairing`?

    error: `hard-reset` is no rule about files that change (node `work`)
     --> .linchpin/workflows/execution.yml:5:39
      |
    5 |     requires: [{file_rules: [parings, hard-reset, else]}]
      |                                       ^^^^^^^^^^
      |
      = help: the file rules are pairing

    error: no rule is named `else` (node `work`)
     --> .linchpin/workflows/execution.yml:5:51
      |
    5 |     requires: [{file_rules: [parings, hard-reset, else]}]
      |                                                   ^^^^
      |
      = help: the file rules are pairing

    4 rules in force, 1 workflow; 3 errors.
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
fn claims_and_variables_have_names_of_their_own() {
    let text = LEAST
        .replace("nodes:", "variables: {rework: 1, work_complete: 2}\nclaims: [rework, 'two words', event]\nnodes:");
    insta::assert_snapshot!(validated(&text), @"
    error: `rework` is a claim and a variable: it can be only one of them
     --> .linchpin/workflows/execution.yml:3:10
      |
    3 | claims: [rework, 'two words', event]
      |          ^^^^^^

    error: `two words` cannot be a claim: names are letters, digits and `_`, and begin with a letter
     --> .linchpin/workflows/execution.yml:3:18
      |
    3 | claims: [rework, 'two words', event]
      |                  ^^^^^^^^^^^

    error: `event` cannot be a claim: it already means something in expressions
     --> .linchpin/workflows/execution.yml:3:31
      |
    3 | claims: [rework, 'two words', event]
      |                               ^^^^^

    error: `work_complete` is a claim and a variable: it can be only one of them (node `work`)
     --> .linchpin/workflows/execution.yml:5:3
      |
    5 |   work:
      |   ^^^^

    2 rules in force, 1 workflow; 4 errors.
    ");
}

#[test]
fn rules_are_named_by_node_and_place() {
    let text = LEAST.replace(
        "    prompt: Work.",
        "    prompt: Work.\n    rules:\n      - no-such-rule\n      - {tools: [Bash], command_pattern: '(', reason: No.}\n    tool_rules:\n      - {on: stop, reason: No.}\n    check_rules: [hard-rest]\n    blocked_commands: ['[']",
    );
    insta::assert_snapshot!(validated(&text), @"
    error: no rule is named `no-such-rule` (node `work`, rule 1)
     --> .linchpin/workflows/execution.yml:6:9
      |
    6 |       - no-such-rule
      |         ^^^^^^^^^^^^
      |
      = help: the rules are delete-outside-project, force-push-protected, hard-reset, opaque-shell, people-only-commands, pipe-to-shell, protect-guardrails, read-secrets, repeated-failure, unguarded-agent

    error: bad regex: unclosed group (node `work`, rule 2)
     --> .linchpin/workflows/execution.yml:7:43
      |
    7 |       - {tools: [Bash], command_pattern: '(', reason: No.}
      |                                           ^

    error: `tool_rules` takes rules about tool calls, and this is none (node `work`, `tool_rules` 1)
     --> .linchpin/workflows/execution.yml:9:9
      |
    9 |       - {on: stop, reason: No.}
      |         ^
      |
      = help: put it under `rules`

    error: no rule is named `hard-rest` (node `work`, `check_rules` 1)
      --> .linchpin/workflows/execution.yml:10:19
       |
    10 |     check_rules: [hard-rest]
       |                   ^^^^^^^^^
       |
       = help: did you mean `hard-reset`?

    error: bad regex: unclosed character class (node `work`)
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
    {"severity":"error","kind":"UnknownRule","message":"no rule is named `no-such-rule` (node `work`, rule 1)","file":".linchpin/workflows/execution.yml","line":6,"column":9,"node":"work","help":"the rules are delete-outside-project, force-push-protected, hard-reset, opaque-shell, people-only-commands, pipe-to-shell, protect-guardrails, read-secrets, repeated-failure, unguarded-agent"}
    {"severity":"error","kind":"InvalidRulePattern","message":"bad regex: unclosed group (node `work`, rule 2)","file":".linchpin/workflows/execution.yml","line":7,"column":43,"node":"work","rule":"execution/work/2"}
    {"severity":"error","kind":"InvalidValue","message":"`tool_rules` takes rules about tool calls, and this is none (node `work`, `tool_rules` 1)","file":".linchpin/workflows/execution.yml","line":9,"column":9,"node":"work","rule":"execution/work/4","help":"put it under `rules`"}
    {"severity":"error","kind":"UnknownRule","message":"no rule is named `hard-rest` (node `work`, `check_rules` 1)","file":".linchpin/workflows/execution.yml","line":10,"column":19,"node":"work","help":"did you mean `hard-reset`?"}
    {"severity":"error","kind":"InvalidRulePattern","message":"bad regex: unclosed character class (node `work`)","file":".linchpin/workflows/execution.yml","line":11,"column":25,"node":"work"}
    "#);
}

#[test]
fn two_rules_of_one_name() {
    let text = LEAST.replace(
        "    prompt: Work.",
        "    prompt: Work.\n    rules:\n      - {name: No push, tools: [Bash], reason: One.}\n      - {name: no push, tools: [Task], reason: Two.}",
    );
    insta::assert_snapshot!(validated(&text), @"
    error: two rules of this workflow go by `execution/work/no-push`
     --> .linchpin/workflows/execution.yml:7:9
      |
    7 |       - {name: no push, tools: [Task], reason: Two.}
      |         ^
      |
      = help: give one of them another `name`

    2 rules in force, 1 workflow; 1 error.
    ");
}

#[test]
fn gates() {
    let text = LEAST.replace(
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
fn blocking_where_there_is_no_call() {
    let block = "{block_tools: [{tools: [Bash], reason: No.}]}";
    let text = LEAST
        .replace("nodes:", &format!("triggers: {{stop: [{block}]}}\nnodes:"))
        .replace("    prompt: Work.", &format!("    prompt: Work.\n    on_enter: [{block}]\n    on_exit: [{block}]"));
    insta::assert_snapshot!(validated(&text), @"
    error: `stop` has no tool call that could be blocked
     --> .linchpin/workflows/execution.yml:2:20
      |
    2 | triggers: {stop: [{block_tools: [{tools: [Bash], reason: No.}]}]}
      |                    ^^^^^^^^^^^
      |
      = help: put `block_tools` under `before_tool`, or the rules under `rules`

    error: a node that is left blocks nothing any more (node `work`)
     --> .linchpin/workflows/execution.yml:7:16
      |
    7 |     on_exit: [{block_tools: [{tools: [Bash], reason: No.}]}]
      |                ^^^^^^^^^^^
      |
      = help: put the rules under the `rules` of the node that they are for

    2 rules in force, 1 workflow; 2 errors.
    ");
}

#[test]
fn guides() {
    let project = with_workflow(&LEAST.replace(
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
    symlink("../../secret.md", project.root().join(".linchpin/guides/LINK.md")).expect("a link");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @r#"
    error: there is no guide `SPEC_WRITTING` (node `work`)
     --> .linchpin/workflows/execution.yml:4:24
      |
    4 |     prompt: "{{ guide('SPEC_WRITTING') }} {{ guide('../config') }} {{ guide('ONE') }} {{ guide('LINK') }} {{ guide('D1') }} {{ guide(...
      |                        ^^^^^^^^^^^^^
      |
      = help: did you mean `SPEC_WRITING`?

    error: `../config` cannot name a guide (node `work`)
     --> .linchpin/workflows/execution.yml:4:53
      |
    4 |     prompt: "{{ guide('SPEC_WRITTING') }} {{ guide('../config') }} {{ guide('ONE') }} {{ guide('LINK') }} {{ guide('D1') }} {{ guide(...
      |                                                     ^^^^^^^^^
      |
      = help: a guide is named without a folder and without `.md`: letters, digits, `-` and `_`

    error: `guide` takes the name of a guide, in quotes (node `work`)
     --> .linchpin/workflows/execution.yml:4:128
      |
    4 | ...uide('ONE') }} {{ guide('LINK') }} {{ guide('D1') }} {{ guide(phase.name) }}"
      |                                                            ^^^^^^^^^^^^^^^^^
      |
      = help: as in `{{ guide('REVIEW') }}`

    error: more than 8 guides lie in each other: D1 → D2 → D3 → D4 → D5 → D6 → D7 → D8 → D9
     --> .linchpin/guides/D8.md:1:11
      |
    1 | {{ guide('D9') }}
      |           ^^

    error: a link that leads out of the folder of guides is not followed
    --> .linchpin/guides/LINK.md

    error: unknown name `missing` (in a guide of workflow `execution`, .linchpin/workflows/execution.yml:4:78)
     --> .linchpin/guides/ONE.md:4:4
      |
    4 | {{ missing }}
      |    ^^^^^^^
      |
      = help: there is no guide `missing` either: create `.linchpin/guides/missing.md`; a variable is declared under `variables:`

    error: guides go in a circle: ONE → TWO → ONE
     --> .linchpin/guides/TWO.md:1:16
      |
    1 | Two: {{ guide('ONE') }}
      |                ^^^

    2 rules in force, 1 workflow; 7 errors.
    "#);
}

#[test]
fn a_project_leaves_the_users_variables_alone() {
    let project = with_workflow(&LEAST.replace(
        "nodes:",
        "variables: {hotfix: true}\nobservers: [{name: x, on: stop, match: {}, set: {hotfix: true}}]\ntriggers: {stop: [{set: {hotfix: true}}]}\nnodes:",
    ));
    std::fs::create_dir_all(project.user_policy()).expect("a folder");
    std::fs::write(project.user_policy().join("config.yml"), "variables: {hotfix: false}\n").expect("a file");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: `hotfix` is a variable of the user's own policy
     --> .linchpin/workflows/execution.yml:2:13
      |
    2 | variables: {hotfix: true}
      |             ^^^^^^
      |
      = help: use a variable of another name

    error: `hotfix` is a variable of the user's own policy
     --> .linchpin/workflows/execution.yml:3:13
      |
    3 | observers: [{name: x, on: stop, match: {}, set: {hotfix: true}}]
      |             ^
      |
      = help: use a variable of another name

    error: `hotfix` is a variable of the user's own policy
     --> .linchpin/workflows/execution.yml:4:26
      |
    4 | triggers: {stop: [{set: {hotfix: true}}]}
      |                          ^^^^^^
      |
      = help: use a variable of another name

    2 rules in force, 1 workflow; 3 errors.
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

#[test]
fn lists_of_tools() {
    let text = LEAST.replace(
        "    prompt: Work.",
        "    prompt: Work.\n    allowed_tools: [Edit, bsh, '']\n    blocked_tools: [Read]\n    allowed_mcp_tools: [github]\n    blocked_mcp_tools: 7",
    );
    insta::assert_snapshot!(validated(&text), @"
    warning: no agent is known to have a tool `bsh` (node `work`)
     --> .linchpin/workflows/execution.yml:5:27
      |
    5 |     allowed_tools: [Edit, bsh, '']
      |                           ^^^
      |
      = help: did you mean `Bash`?

    error: a name is empty (node `work`)
     --> .linchpin/workflows/execution.yml:5:32
      |
    5 |     allowed_tools: [Edit, bsh, '']
      |                                ^^

    warning: reading always passes, so `Read` is not blocked here (node `work`)
     --> .linchpin/workflows/execution.yml:6:21
      |
    6 |     blocked_tools: [Read]
      |                     ^^^^
      |
      = help: a rule under `rules` blocks it: `{tools: [Read], reason: …}`

    error: `github` is not `server:tool` (node `work`)
     --> .linchpin/workflows/execution.yml:7:25
      |
    7 |     allowed_mcp_tools: [github]
      |                         ^^^^^^
      |
      = help: either side may be `*`, as in `github:*`

    error: `blocked_mcp_tools` takes text or a list of texts, not a number (node `work`)
     --> .linchpin/workflows/execution.yml:8:24
      |
    8 |     blocked_mcp_tools: 7
      |                        ^

    2 rules in force, 1 workflow; 3 errors and 2 warnings.
    ");
}

#[test]
fn gates_that_are_never_asked() {
    let end = LEAST.to_owned() + "  done:\n    prompt: Bye.\n    requires: ['git.dirty == false']\n";
    insta::assert_snapshot!(validated(&end), @"
    error: `requires` of `done` is never asked: gates are asked when a node is left (node `done`)
     --> .linchpin/workflows/execution.yml:8:5
      |
    8 |     requires: ['git.dirty == false']
      |     ^^^^^^^^
      |
      = help: write them on the transition that leads here: `{when: …, to: done, requires: […]}`

    2 rules in force, 1 workflow; 1 error.
    ");
    let unused = LEAST.to_owned() + "gates:\n  green: {command: cargo test}\n";
    insta::assert_snapshot!(validated(&unused), @"
    warning: nothing requires the gate `green`, so it is never asked
     --> .linchpin/workflows/execution.yml:7:3
      |
    7 |   green: {command: cargo test}
      |   ^^^^^
      |
      = help: add it where it has to hold, as `requires: [green]`, or leave it out

    note: .linchpin/workflows/execution.yml: what needs trust in it does not count until a person accepts it with `linchpin trust` (gate green: runs cargo test)

    2 rules in force, 1 workflow; 1 warning.
    ");
    let used = unused.replace("to: done}", "to: done, requires: [green]}");
    assert!(!validated(&used).contains("nothing requires"));
}

#[test]
fn a_gate_for_a_value_that_its_variable_cannot_have() {
    let gate = |variables: &str, value: &str| {
        let gate = format!("requires: [{{type: variable_set, variable: st, value: {value}}}]");
        let text = LEAST.replace("    prompt: Work.\n", &format!("    prompt: Work.\n    {gate}\n"));
        with_workflow(&format!("variables: {{{variables}}}\n{text}")).run(&["validate"])
    };
    insta::assert_snapshot!(gate("st: false", "ready").stdout, @r#"
    warning: `type: variable_set` is an old way to write a gate (node `work`)
     --> .linchpin/workflows/execution.yml:6:17
      |
    6 |     requires: [{type: variable_set, variable: st, value: ready}]
      |                 ^^^^
      |
      = help: write `st == "ready"`

    error: `value` is `"ready"`, and `st` is declared as a boolean (`false`): the two never agree (node `work`)
     --> .linchpin/workflows/execution.yml:6:58
      |
    6 |     requires: [{type: variable_set, variable: st, value: ready}]
      |                                                          ^^^^^
      |
      = help: give a boolean here, or declare `st` as text: `variables: {st: ""}`

    2 rules in force, 1 workflow; 1 error and 1 warning.
    "#);
    assert_eq!(gate("st: 1", "'2'").code, Some(2));
    for (variables, value) in [("st: false", "true"), ("st: 1", "2"), ("st: ''", "ready"), ("st: null", "ready")] {
        assert_eq!(gate(variables, value).code, Some(0), "{variables} {value}");
    }
}
