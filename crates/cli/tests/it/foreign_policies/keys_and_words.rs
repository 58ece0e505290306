//! Keys, actions and events with names from other systems.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{WORKFLOW, problem_kinds, validate_messages};
use crate::project;

#[test]
fn block_tools_may_be_written_as_an_action_with_rules() {
    let verdicts = |trigger: &str| {
        let project = project();
        let keys = format!("variables: {{open: false}}\ntriggers:\n  before_tool:\n    - {trigger}\n");
        project.file(".linchpin/workflows/work.yml", format!("{keys}{WORKFLOW}"));
        let start = project.run(&["start", "work"]);
        assert_eq!(start.code, Some(0), "{}", start.transcript());
        let payload = project.tool_payload("WebFetch", &json!({"url": "https://example.com"}));
        let reply: Value = project.hook("claude", &payload).json();
        (reply["hookSpecificOutput"].clone(), project.decision("ls"))
    };
    let rules = "[{tools: [WebFetch], reason: Not now.}]";
    let expected = verdicts(&format!("{{block_tools: {rules}, when: not open}}"));
    assert_eq!(expected.0["permissionDecision"], "deny", "{expected:?}");
    assert_eq!(expected, verdicts(&format!("{{action: block_tools, rules: {rules}, when: not open}}")));
}

#[test]
fn an_unknown_action_is_reported_with_the_valid_form() {
    let project = project();
    let keys = "triggers:\n  before_tool:\n    - {action: set_variable, set: {a: 1}}\n    - {action: inject_context}\n    - \
                {action: block_tools}\n    - {action: dance}\n    - {rules: [{tools: [Bash], reason: No.}]}\n";
    project.file(".linchpin/workflows/work.yml", format!("{keys}{WORKFLOW}"));
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: an action must have exactly one of `set`, `inject` and `block_tools`
     --> .linchpin/workflows/work.yml:3:7
      |
    3 |     - {action: set_variable, set: {a: 1}}
      |       ^

    error: unknown action `inject_context`
     --> .linchpin/workflows/work.yml:4:16
      |
    4 |     - {action: inject_context}
      |                ^^^^^^^^^^^^^^
      |
      = help: write `inject: TEXT`

    error: `action: block_tools` has no `rules`
     --> .linchpin/workflows/work.yml:5:16
      |
    5 |     - {action: block_tools}
      |                ^^^^^^^^^^^

    error: unknown action `dance`
     --> .linchpin/workflows/work.yml:6:16
      |
    6 |     - {action: dance}
      |                ^^^^^
      |
      = help: an action is `set: {…}`, `inject: TEXT` or `block_tools: […]`

    error: an action must have exactly one of `set`, `inject` and `block_tools`
     --> .linchpin/workflows/work.yml:7:7
      |
    7 |     - {rules: [{tools: [Bash], reason: No.}]}
      |       ^

    error: `rules` is only allowed next to `action: block_tools`
     --> .linchpin/workflows/work.yml:7:8
      |
    7 |     - {rules: [{tools: [Bash], reason: No.}]}
      |        ^^^^^
      |
      = help: write `block_tools:` instead

    2 rules in force, 1 workflow; 6 errors.
    ");
}

#[test]
fn an_unknown_rule_type_is_reported_in_every_file() {
    let project = project();
    project.config("rules:\n  - foo_rule: {threshold: 3}\n  - repeated_comand: {threshold: 3, window: 60}\n  - comand: {program: git}\n");
    project.file(".linchpin/rules/house.yml", "loops:\n  token_buget: {max_tokens: 5}\n");
    project.file(
        ".linchpin/workflows/work.yml",
        WORKFLOW.replace("{command_pattern: '^danger', reason: Not here.}", "foo_rule: {threshold: 3}"),
    );
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: unknown rule type `token_buget`
     --> .linchpin/rules/house.yml:2:3
      |
    2 |   token_buget: {max_tokens: 5}
      |   ^^^^^^^^^^^
      |
      = help: did you mean `token_budget`?

    error: unknown rule type `foo_rule`
     --> .linchpin/config.yml:2:5
      |
    2 |   - foo_rule: {threshold: 3}
      |     ^^^^^^^^
      |
      = help: known types: repeated_command, repeated_file_edit, phase_timeout, token_budget, require_commits

    error: unknown rule type `repeated_comand`
     --> .linchpin/config.yml:3:5
      |
    3 |   - repeated_comand: {threshold: 3, window: 60}
      |     ^^^^^^^^^^^^^^^
      |
      = help: did you mean `repeated_command`?

    error: unknown key `comand`
     --> .linchpin/config.yml:4:5
      |
    4 |   - comand: {program: git}
      |     ^^^^^^
      |
      = help: did you mean `command`?

    warning: the rule has no reason
     --> .linchpin/config.yml:4:5
      |
    4 |   - comand: {program: git}
      |     ^
      |
      = help: write under `reason` why the rule exists, and what the agent should do instead

    error: unknown rule type `foo_rule` (node `work`, rule 1)
     --> .linchpin/workflows/work.yml:6:9
      |
    6 |       - foo_rule: {threshold: 3}
      |         ^^^^^^^^
      |
      = help: known types: repeated_command, repeated_file_edit, phase_timeout, token_budget, require_commits

    2 rules in force, 1 workflow; 5 errors and 1 warning.
    ");
    assert_eq!(
        problem_kinds(&project),
        ["UnknownRuleType", "UnknownRuleType", "UnknownRuleType", "UnknownKey", "MissingKey", "UnknownRuleType"]
    );
}

#[test]
fn an_undeclared_claim_is_reported_with_its_declaration() {
    let project = project();
    project.file(".linchpin/workflows/work.yml", WORKFLOW.replace("work_complete", "shipped"));
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: unknown name `shipped` (node `work`)
     --> .linchpin/workflows/work.yml:7:26
      |
    7 |     transitions: [{when: shipped, to: done}]
      |                          ^^^^^^^
      |
      = help: a claim is declared with `claims: [shipped]`, a variable under `variables:`, both in this workflow

    2 rules in force, 1 workflow; 1 error.
    ");
    project.file(
        ".linchpin/workflows/work.yml",
        format!("claims: [shipped]\n{}", WORKFLOW.replace("work_complete", "shipped")),
    );
    assert_eq!(project.run(&["validate"]).code, Some(0));
}

#[test]
fn a_guide_may_be_named_in_braces() {
    let project = project();
    let prompt = "'{{SPEC_WRITING}} {{ topic }}.'";
    let flow = format!("variables: {{topic: pears}}\n{}", WORKFLOW.replace("Work.", prompt));
    project.file(".linchpin/workflows/work.yml", &flow);
    project
        .file(".linchpin/guides/SPEC_WRITING.md", "Write about {{ FRUIT }}:")
        .file(".linchpin/guides/FRUIT.md", "fruit");
    // A variable overrides a guide of the same name.
    project.file(".linchpin/guides/topic.md", "a guide");
    let start = project.run(&["start", "work"]);
    assert_eq!(start.stdout, "Write about fruit: pears.\n", "{}", start.transcript());
    project.file(".linchpin/workflows/other.yml", flow.replace("SPEC_WRITING", "SPEC_WRITNG}} {{OTHER_THING"));
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: unknown name `SPEC_WRITNG` (node `work`)
     --> .linchpin/workflows/other.yml:5:16
      |
    5 |     prompt: '{{SPEC_WRITNG}} {{OTHER_THING}} {{ topic }}.'
      |                ^^^^^^^^^^^
      |
      = help: did you mean the guide `SPEC_WRITING`?

    error: unknown name `OTHER_THING` (node `work`)
     --> .linchpin/workflows/other.yml:5:32
      |
    5 |     prompt: '{{SPEC_WRITNG}} {{OTHER_THING}} {{ topic }}.'
      |                                ^^^^^^^^^^^
      |
      = help: no guide is named `OTHER_THING`: create `.linchpin/guides/OTHER_THING.md`; a variable is declared under `variables:`

    2 rules in force, 2 workflows; 2 errors.
    ");
}

#[test]
fn words_of_other_systems_are_reported_with_linchpins_words() {
    let project = project();
    project.rule("docs", "---\ntrigger: src/**\ninstructions: Look.\n---\nLook.\n");
    project.rule("more", "---\ncreated: src/**\ninstructions_file: x.md\n---\nLook.\n");
    project.file(".linchpin/rules/list.yml", "- name: Docs\n  trigger: src/**\n");
    project.config("observers: [{name: claims, behavior: detect_task_claim}]\n");
    project.file("guides/HOUSE.md", "Mind the house.");
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: work\nnodes:\n  work:\n    prompt: '{{ HOUSE }} {{ guide(\"HOUSE\") }}'\n    allowed_tools: all\n    rules:\n      - \
         repeated_command: {threshold: 3, window_secs: 10}\n      - repeated_file_edit: {pattern: src, threshold: 3, window: 9}\n      - {type: \
         repeated_file_edit, pattern: src, threshold: 3, window: 9}\n      - {tools: [Edit], action: require_approval, reason: No.}\n    \
         exit_conditions: [{type: user_approval}]\n    transitions: [{when: work_complete, to: done}]\n",
    );
    project.file(
        ".linchpin/workflows/lifecycle.yml",
        "name: lifecycle\ntype: lifecycle\ninitial_step: claim\nsteps: [{name: claim}]\ntriggers: {BEFORE_TOOL: [], on_session_start: []}\n",
    );
    assert_snapshot!(project.run(&["validate"]).stdout, @r#"
    error: unknown behavior `detect_task_claim`
     --> .linchpin/config.yml:1:38
      |
    1 | observers: [{name: claims, behavior: detect_task_claim}]
      |                                      ^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `task_claim_tracking`?

    error: unknown key `instructions`
     --> .linchpin/rules/docs.md:3:1
      |
    3 | instructions: Look.
      | ^^^^^^^^^^^^
      |
      = help: use `reason`, or in a Markdown rule the text below the second `---`

    error: unknown key `instructions_file`
     --> .linchpin/rules/more.md:3:1
      |
    3 | instructions_file: x.md
      | ^^^^^^^^^^^^^^^^^
      |
      = help: write the text under `reason`, or in a Markdown rule below the second `---`

    error: a rule library must be a mapping of names to rules, but this is a list
     --> .linchpin/rules/list.yml:1:1
      |
    1 | - name: Docs
      | ^
      |
      = help: write `NAME: {…}` for each rule; to convert a list in DeepWork's old format, run `linchpin rules import FILE`

    error: unknown key `name`
     --> .linchpin/workflows/lifecycle.yml:1:1
      |
    1 | name: lifecycle
      | ^^^^
      |
      = help: remove it: the workflow is named after its file

    error: the workflow has no `nodes`
     --> .linchpin/workflows/lifecycle.yml:1:1
      |
    1 | name: lifecycle
      | ^
      |
      = help: write `triggers`, `tool_rules` and `check_rules` that are always active into `.linchpin/config.yml`

    error: the workflow has no `start_node`
     --> .linchpin/workflows/lifecycle.yml:1:1
      |
    1 | name: lifecycle
      | ^

    error: unknown key `type`
     --> .linchpin/workflows/lifecycle.yml:2:1
      |
    2 | type: lifecycle
      | ^^^^
      |
      = help: remove it; write what is always active into `.linchpin/config.yml`

    error: unknown key `initial_step`
     --> .linchpin/workflows/lifecycle.yml:3:1
      |
    3 | initial_step: claim
      | ^^^^^^^^^^^^
      |
      = help: use `start_node`

    error: unknown key `steps`
     --> .linchpin/workflows/lifecycle.yml:4:1
      |
    4 | steps: [{name: claim}]
      | ^^^^^
      |
      = help: use `nodes`, a mapping of node names: `nodes: {claim: {prompt: …}}`

    error: unknown event `BEFORE_TOOL`
     --> .linchpin/workflows/lifecycle.yml:5:12
      |
    5 | triggers: {BEFORE_TOOL: [], on_session_start: []}
      |            ^^^^^^^^^^^
      |
      = help: did you mean `before_tool`?

    error: unknown event `on_session_start`
     --> .linchpin/workflows/lifecycle.yml:5:29
      |
    5 | triggers: {BEFORE_TOOL: [], on_session_start: []}
      |                             ^^^^^^^^^^^^^^^^
      |
      = help: did you mean `session_start`?

    error: unknown name `HOUSE` (node `work`)
     --> .linchpin/workflows/work.yml:4:17
      |
    4 |     prompt: '{{ HOUSE }} {{ guide("HOUSE") }}'
      |                 ^^^^^
      |
      = help: guides are read from `.linchpin/guides`: copy `guides/HOUSE.md` there

    error: unknown guide `HOUSE` (node `work`)
     --> .linchpin/workflows/work.yml:4:36
      |
    4 |     prompt: '{{ HOUSE }} {{ guide("HOUSE") }}'
      |                                    ^^^^^
      |
      = help: guides are read from `.linchpin/guides`: copy `guides/HOUSE.md` there

    error: `all` is not a tool, so every tool would be blocked (node `work`)
     --> .linchpin/workflows/work.yml:5:20
      |
    5 |     allowed_tools: all
      |                    ^^^
      |
      = help: to allow every tool, remove `allowed_tools`

    error: `repeated_command` needs `window` (node `work`, rule 1)
     --> .linchpin/workflows/work.yml:7:9
      |
    7 |       - repeated_command: {threshold: 3, window_secs: 10}
      |         ^^^^^^^^^^^^^^^^

    error: unknown key `window_secs` (node `work`, rule 1)
     --> .linchpin/workflows/work.yml:7:42
      |
    7 |       - repeated_command: {threshold: 3, window_secs: 10}
      |                                          ^^^^^^^^^^^
      |
      = help: use `window`, in seconds

    error: unknown key `pattern` (node `work`, rule 2)
     --> .linchpin/workflows/work.yml:8:30
      |
    8 |       - repeated_file_edit: {pattern: src, threshold: 3, window: 9}
      |                              ^^^^^^^
      |
      = help: use `path_pattern`

    error: `pattern` is not a field of `repeated_file_edit` (node `work`, rule 3)
     --> .linchpin/workflows/work.yml:9:36
      |
    9 |       - {type: repeated_file_edit, pattern: src, threshold: 3, window: 9}
      |                                    ^^^^^^^
      |
      = help: use `path_pattern`

    error: `action` must be one of `block`, `ask`, `warn`, `allow`, not `require_approval` (node `work`, rule 4)
      --> .linchpin/workflows/work.yml:10:33
       |
    10 |       - {tools: [Edit], action: require_approval, reason: No.}
       |                                 ^^^^^^^^^^^^^^^^
       |
       = help: did you mean `ask`?

    error: the gate has no `prompt` (node `work`)
      --> .linchpin/workflows/work.yml:11:23
       |
    11 |     exit_conditions: [{type: user_approval}]
       |                       ^
       |
       = help: write the question for the person: `approval: Ship it?`

    2 rules in force, 2 workflows; 21 errors.
    "#);
}

#[test]
fn keys_of_other_loop_formats_are_reported_with_linchpins_keys() {
    insta::assert_snapshot!(validate_messages(
        ".linchpin/loop.yml",
        "cli: {backend: claude}\nevent_loop: {max_iterations: 5}\nsubscriptions: {b: [task.start]}\nagent: claude\nhats:\n  b: {triggers: [task.start], publishes: [loop.complete]}\n",
    ), @"
    error: unknown key `cli`
    = help: use `agent` with the name of a known agent, `agent: claude`, or with a command, `agent: {command: [sh, agent.sh]}`
    error: unknown key `event_loop`
    = help: move its settings out of it: `starting_event` becomes `start`, `completion_promise` becomes `completion: {topic: …}`, `max_iterations` becomes `limits: {iterations: …}`; pass the prompt with `linchpin run -p`
    error: unknown key `subscriptions`
    = help: write `triggers` in each hat: `hats: {builder: {triggers: [task.start]}}`
    ");
}

#[test]
fn missing_guides_are_reported_with_their_path() {
    let workflow = |prompt: &str| {
        let text = format!(
            "start_node: a\nnodes:\n  a: {{prompt: \"{prompt}\", transitions: [{{when: a_complete, to: done}}]}}\n"
        );
        validate_messages(".linchpin/workflows/w.yml", &text)
    };
    insta::assert_snapshot!(workflow("Look. {{REVIEW-GUIDE}} {{ REVIEW-GUIDE }}"), @"
    error: `{{ REVIEW-GUIDE }}` is read as a subtraction, because of the `-` (node `a`)
    = help: to include the guide, write `{{ guide('REVIEW-GUIDE') }}`
    error: `{{ REVIEW-GUIDE }}` is read as a subtraction, because of the `-` (node `a`)
    = help: to include the guide, write `{{ guide('REVIEW-GUIDE') }}`
    ");
    insta::assert_snapshot!(workflow("{{QZX}}"), @"
    error: unknown name `QZX` (node `a`)
    = help: no guide is named `QZX`: create `.linchpin/guides/QZX.md`; a variable is declared under `variables:`
    ");
    insta::assert_snapshot!(workflow("{{ guide('QZX') }}"), @"
    error: unknown guide `QZX` (node `a`)
    = help: create `.linchpin/guides/QZX.md`; known guides: ASSESS, CLAIMING, CODE_REVIEW, CODING, COMMITTING, LEARNINGS, PINNING, PLAN_WRITING, PROTOTYPING, QUESTIONS, README_WRITING, REFACTORING, RESEARCH_PLAN, REVIEW-GUIDE, SPEC_WRITING, STUDY, SURVEY, TESTING
    ");
}

#[test]
fn event_names_with_an_on_prefix_are_reported() {
    insta::assert_snapshot!(validate_messages(".linchpin/config.yml", "triggers: {on_stop: [{inject: x}], on_before_tool: [{inject: y}]}\n"), @"
    error: unknown event `on_stop`
    = help: did you mean `stop`?
    error: unknown event `on_before_tool`
    = help: did you mean `before_tool`?
    ");
}

#[test]
fn a_command_with_two_lines_is_reported() {
    let rule =
        "---\ntrigger: '**/*.rs'\naction:\n  command: |\n    cargo test\n    cargo clippy \\\n      --all\n---\nx\n";
    insta::assert_snapshot!(validate_messages(".linchpin/rules/r.md", rule), @r#"
    error: `command` has a line break, which only a shell interprets, but no shell runs `command`
    = help: to run it in a shell, write `shell: "cargo test && cargo clippy --all"` instead of `command`; to pass it as an argument, quote it or write the words as a list
    "#);
}

#[test]
fn except_suggests_exclude() {
    let project = project();
    project.rule("keys", "---\nreads: '**/*.pem'\nexcept: test.pem\n---\nNo.\n");
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: unknown key `except`
     --> .linchpin/rules/keys.md:3:1
      |
    3 | except: test.pem
      | ^^^^^^
      |
      = help: use `exclude`

    2 rules in force; 1 error.
    ");
}
