//! `tool_rules`, `check_rules` and `triggers` in a configuration have the same effect as in a workflow, but they always
//! apply.

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::TestProject;

use crate::{NO_DANGER, project};

const FETCH: &str = "{tools: [WebFetch], reason: Not now.}";

fn hook_answer(project: &TestProject, event: &str, fields: &Value) -> Value {
    let reply = project.hook("claude", &project.event_payload(event, fields));
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    if reply.stdout.is_empty() { Value::Null } else { reply.json() }
}

fn fetch_verdict(project: &TestProject) -> Value {
    let fields =
        json!({"tool_name": "WebFetch", "tool_input": {"url": "https://example.com"}, "tool_use_id": "toolu_1"});
    hook_answer(project, "PreToolUse", &fields)["hookSpecificOutput"].clone()
}

fn additional_context(answer: &Value) -> String {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn each_spelling_of_a_tool_rule_gives_the_same_verdict() {
    let verdict_with = |config: &str| {
        let project = project();
        project.config(config);
        assert_eq!(project.run(&["validate"]).code, Some(0), "{}", project.run(&["validate"]).transcript());
        fetch_verdict(&project)
    };
    let expected = verdict_with(&format!("rules: [{FETCH}]\n"));
    assert_eq!(expected["permissionDecision"], "deny", "{expected}");
    for config in [
        format!("tool_rules: [{FETCH}]\n"),
        format!("triggers: {{before_tool: [{{block_tools: [{FETCH}]}}]}}\n"),
        format!("triggers: {{before_tool: [{{action: block_tools, rules: [{FETCH}]}}]}}\n"),
        format!("rule_definitions: {{inline-1: {FETCH}}}\ncheck_rules: [inline-1]\n"),
    ] {
        assert_eq!(verdict_with(&config), expected, "{config}");
    }
}

#[test]
fn the_same_keys_block_the_same_calls_in_a_workflow() {
    let keys = format!(
        "variables: {{open: false}}\ntool_rules: [{FETCH}]\ntriggers:\n  before_tool:\n    - {{block_tools: [{{tools: [WebSearch], \
         reason: No.}}], when: not open}}\n"
    );
    let search = json!({"tool_name": "WebSearch", "tool_input": {"query": "x"}, "tool_use_id": "toolu_2"});
    let decisions = |project: &TestProject| {
        [
            fetch_verdict(project)["permissionDecision"].clone(),
            hook_answer(project, "PreToolUse", &search)["hookSpecificOutput"]["permissionDecision"].clone(),
        ]
    };
    let always_on = project();
    always_on.config(&keys);
    let in_workflow = project();
    in_workflow.file(
        ".linchpin/workflows/work.yml",
        format!("{keys}start_node: a\nnodes: {{a: {{prompt: A., transitions: [{{when: a_complete, to: done}}]}}}}\n"),
    );
    assert_eq!(in_workflow.run(&["start", "work"]).code, Some(0));
    assert_eq!(decisions(&always_on), decisions(&in_workflow));
    assert_eq!(decisions(&always_on), [json!("deny"), json!("deny")]);
    // A `when` that belongs to a list of rules applies to all rules of the list.
    assert_eq!(always_on.run(&["set", "open", "true"]).code, Some(0));
    assert_eq!(decisions(&always_on), [json!("deny"), Value::Null]);
}

#[test]
fn triggers_set_variables_and_inject_texts() {
    let project = project();
    project.file(".linchpin/guides/HOUSE.md", "Prompt {{ prompts }}.");
    project.config(
        "variables: {prompts: 0}\ntriggers:\n  session_start: [{inject: Read docs/plan.md first.}]\n  prompt:\n    - {set: {prompts: '{{ \
         prompts + 1 }}'}}\n    - {when: prompts > 1, inject: '{{HOUSE}}'}\n",
    );
    assert_eq!(
        additional_context(&hook_answer(&project, "SessionStart", &json!({"source": "startup"}))),
        "Read docs/plan.md first."
    );
    assert_eq!(additional_context(&hook_answer(&project, "UserPromptSubmit", &json!({"prompt": "go"}))), "");
    assert_eq!(additional_context(&hook_answer(&project, "UserPromptSubmit", &json!({"prompt": "go"}))), "Prompt 2.");
    // A changed guide is used at the next event.
    project.file(".linchpin/guides/HOUSE.md", "Now {{ prompts }}.");
    assert_eq!(additional_context(&hook_answer(&project, "UserPromptSubmit", &json!({"prompt": "go"}))), "Now 3.");
}

#[test]
fn errors_name_their_positions() {
    let project = project();
    project.config(
        "tool_rules:\n  - hard-reset\n  - {on: stop, when: 'true', reason: No.}\ncheck_rules: [hard-rest]\ntriggers:\n  before_tol: []\n  \
         stop: [{block_tools: [{tools: [Bash], reason: No.}]}]\n  prompt: [{set: {promts: 1}}, {inject: '{{ guide(\"NONE\") }}'}]\n",
    );
    assert_snapshot!(project.run(&["validate"]).stdout, @r#"
    error: `tool_rules` must list rules, not names of rules
     --> .linchpin/config.yml:2:5
      |
    2 |   - hard-reset
      |     ^^^^^^^^^^
      |
      = help: name it under `rules`

    error: `tool_rules` must list tool rules, and this is not one
     --> .linchpin/config.yml:3:5
      |
    3 |   - {on: stop, when: 'true', reason: No.}
      |     ^
      |
      = help: move it to `rules`

    error: there is no rule `hard-rest`
     --> .linchpin/config.yml:4:15
      |
    4 | check_rules: [hard-rest]
      |               ^^^^^^^^^
      |
      = help: did you mean `hard-reset`?

    error: unknown event `before_tol`
     --> .linchpin/config.yml:6:3
      |
    6 |   before_tol: []
      |   ^^^^^^^^^^
      |
      = help: did you mean `before_tool`?

    error: `block_tools` cannot block anything on `stop`: the event has no tool call
     --> .linchpin/config.yml:7:11
      |
    7 |   stop: [{block_tools: [{tools: [Bash], reason: No.}]}]
      |           ^^^^^^^^^^^
      |
      = help: move `block_tools` to `before_tool`, or move its rules to `rules`

    error: unknown variable `promts`
     --> .linchpin/config.yml:8:19
      |
    8 |   prompt: [{set: {promts: 1}}, {inject: '{{ guide("NONE") }}'}]
      |                   ^^^^^^
      |
      = help: declare it under `variables:`

    error: unknown guide `NONE`
     --> .linchpin/config.yml:8:52
      |
    8 |   prompt: [{set: {promts: 1}}, {inject: '{{ guide("NONE") }}'}]
      |                                                    ^^^^
      |
      = help: create `.linchpin/guides/NONE.md`; known guides: ASSESS, CLAIMING, CODE_REVIEW, CODING, COMMITTING, LEARNINGS, PINNING, PLAN_WRITING, PROTOTYPING, QUESTIONS, README_WRITING, REFACTORING, RESEARCH_PLAN, SPEC_WRITING, STUDY, SURVEY, TESTING

    2 rules in force; 7 errors.
    "#);
}

#[test]
fn a_broken_trigger_leaves_the_last_good_configuration_in_force() {
    let project = project();
    project.config(&format!("triggers: {{before_tool: [{{block_tools: [{FETCH}]}}]}}\n"));
    assert_eq!(fetch_verdict(&project)["permissionDecision"], "deny");
    project.config("triggers: {before_tool: [{block: []}]}\n");
    assert_eq!(fetch_verdict(&project)["permissionDecision"], "deny");
}

#[test]
fn approving_rules_in_triggers_need_trust() {
    let project = project();
    let config = |when: &str| {
        let rule = "{tools: [Bash], command_pattern: '^make', action: allow, reason: Fine.}";
        format!("variables: {{a: 1, b: 1}}\ntriggers: {{before_tool: [{{block_tools: [{rule}], when: {when}}}]}}\n")
    };
    project.config(&config("a"));
    let approved = |project: &TestProject| {
        hook_answer(
            project,
            "PreToolUse",
            &json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t"}),
        )["hookSpecificOutput"]["permissionDecision"]
            == "allow"
    };
    assert!(!approved(&project));
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert!(approved(&project));
    // Trust includes the `when` of the list that contains the rule: after it changes, a person must accept it again.
    project.config(&config("b"));
    assert!(!approved(&project));
}

#[test]
fn disabled_rules_have_no_effect() {
    let project = project();
    project.config("enabled: false\ntriggers: {session_start: [{inject: Read this.}]}\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(additional_context(&hook_answer(&project, "SessionStart", &json!({"source": "startup"}))), "");
}

#[test]
fn enable_and_disable_edit_the_list_that_names_the_rule() {
    let project = project();
    project.config("rules:\n  enabled: true\n");
    let run = |arguments: &[&str]| {
        let reply = project.run(arguments);
        assert_eq!(reply.code, Some(0), "{}", reply.transcript());
        std::fs::read_to_string(project.root().join(".linchpin/config.yml")).expect("a configuration")
    };
    assert_snapshot!(run(&["rules", "enable", "hard-reset"]), @"
    rules:
      enabled: true
    check_rules:
      - hard-reset
    ");
    assert_eq!(project.decision("git reset --hard"), "deny");
    assert_snapshot!(run(&["rules", "disable", "hard-reset"]), @"
    rules:
      enabled: true
    check_rules: []
    ");
    assert_eq!(project.decision("git reset --hard"), "allow");
    project.config("rules: [hard-reset]\ncheck_rules: [hard-reset]\n");
    assert_snapshot!(run(&["rules", "disable", "hard-reset"]), @"
    rules: []
    check_rules: []
    ");
}

#[test]
fn a_rule_locked_by_the_user_cannot_be_disabled_in_a_project() {
    let project = project();
    let locked = "---\ncommand_pattern: '^git reset --hard'\nlocked: true\n---\nNever.\n";
    project.user_rule("hard-reset", locked).config("rules: [hard-reset]\n");
    assert_eq!(project.decision("git reset --hard"), "deny");
    let refused = project.run(&["rules", "disable", "hard-reset"]);
    assert_snapshot!(refused.transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hard-reset` is locked in the user tier and cannot be switched off in a project
    help: to switch it off in every project, run `linchpin rules disable hard-reset --user`
    ");
    let config = std::fs::read_to_string(project.root().join(".linchpin/config.yml")).expect("a configuration");
    assert_eq!(config, "rules: [hard-reset]\n");
    // `rules disable` does not change a rule of the project either if a locked rule overrides it.
    project.rule("hard-reset", NO_DANGER);
    assert_eq!(project.run(&["rules", "disable", "hard-reset"]).code, Some(2));
    let rule = std::fs::read_to_string(project.root().join(".linchpin/rules/hard-reset.md")).expect("a rule");
    assert_eq!(rule, NO_DANGER);
    assert_eq!(project.run(&["rules", "disable", "hard-reset", "--user"]).code, Some(0));
}
