//! Actions that a workflow performs by itself, at events and at moves.

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::TestProject;

use super::with_two_nodes;
use crate::project;

#[test]
fn triggers_run_after_observers() {
    let project = with_two_nodes("triggers: {before_tool: [{set: {seen: '{{ variables.seen }}+trigger'}}]}", "");
    project
        .config("variables: {seen: none}\nobservers: [{name: o, on: before_tool, match: {}, set: {seen: observer}}]\n");
    project.run(&["start", "work"]);
    project.agent().run("ls");
    let variables = project.run(&["status", "--json"]).json()["session"]["variables"].clone();
    assert_eq!(variables["seen"], "observer+trigger", "{variables}");
}

/// A project with a workflow of two nodes. `keys` are added to the workflow, and `node_keys` to its first node.
fn with_workflow(keys: &str, node_keys: &str) -> TestProject {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: code\n{keys}\nnodes:\n  code:\n    prompt: 'Code {{{{ variables.rounds }}}}.'\n{node_keys}\n    transitions: \
             [{{when: code_complete, to: review}}]\n  review: {{prompt: Review., transitions: [{{when: review_complete, to: \
             done}}]}}\n"
        ),
    );
    project
}

fn with_started_workflow(keys: &str) -> TestProject {
    let project = with_workflow(keys, "");
    let start = project.run(&["start", "work"]);
    assert_eq!(start.code, Some(0), "{}", start.transcript());
    project
}

fn hook_answer(project: &TestProject, agent: &str, event: &str, fields: &Value) -> Value {
    let reply = project.hook(agent, &project.event_payload(event, fields));
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    if reply.stdout.is_empty() { Value::Null } else { reply.json() }
}

fn bash_call(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_1"})
}

#[test]
fn injected_texts_reach_the_agent_while_the_workflow_is_active() {
    let keys = "variables: {rounds: 0}\ntriggers:\n  session_start: [{inject: 'Read docs/plan.md first. You are at {{ \
                workflow.node }}.'}]";
    let project = with_workflow(keys, "");
    let start = || json!({"source": "startup"});
    assert_eq!(hook_answer(&project, "claude", "SessionStart", &start()), Value::Null);
    project.run(&["start", "work"]);
    let introduction = "The workflow `work` is active here, in phase `code`. Run `linchpin repeat` to print the prompt of this phase, \
                        and `linchpin next` to end it.";
    let expected = json!({"hookSpecificOutput": {
        "hookEventName": "SessionStart",
        "additionalContext": format!("{introduction}\n\nRead docs/plan.md first. You are at code."),
    }});
    assert_eq!(hook_answer(&project, "claude", "SessionStart", &start()), expected);
    assert_eq!(hook_answer(&project, "codex", "SessionStart", &start()), expected);
    project.run(&["abort"]);
    assert_eq!(hook_answer(&project, "claude", "SessionStart", &start()), Value::Null);
    let log = project.run(&["log", "--json"]);
    let entries = log.stdout.lines().filter(|line| line.contains(r#","Read docs/plan.md first. You are at code."]"#));
    assert_eq!(entries.count(), 2, "{}", log.stdout);
}

#[test]
fn injected_texts_are_added_to_every_verdict() {
    let rules = "rules:\n  - {command_pattern: '^danger', reason: No.}\n  - {command_pattern: '^hm', action: ask, reason: Sure?}\n  \
                 - {command_pattern: '^eh', action: warn, reason: Mind.}";
    let keys = format!("variables: {{rounds: 0}}\n{rules}\ntriggers: {{before_tool: [{{inject: Small steps.}}]}}");
    let project = with_started_workflow(&keys);
    for command in ["ls", "danger", "hm", "eh"] {
        for agent in ["claude", "codex"] {
            let answer = hook_answer(&project, agent, "PreToolUse", &bash_call(command));
            let specific = &answer["hookSpecificOutput"];
            let is_denied = specific["permissionDecision"] == "deny";
            let field = if is_denied { "permissionDecisionReason" } else { "additionalContext" };
            let text = specific[field].as_str().unwrap_or_default();
            assert!(text.ends_with("Small steps."), "{agent} {command}: {answer}");
            let person_text = answer["systemMessage"].as_str().unwrap_or_default();
            assert!(!person_text.contains("Small steps."), "{agent} {command}: {answer}");
        }
    }
    // If a person is asked, the person reads only the reason, and the agent reads the injected text.
    let answer = hook_answer(&project, "claude", "PreToolUse", &bash_call("hm"));
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("Approval required") && !reason.contains("Small steps."), "{answer}");
}

#[test]
fn a_text_that_an_agent_cannot_receive_is_shown_to_the_person() {
    let keys = "variables: {rounds: 0}\ntriggers: {stop: [{inject: Write down what you learned.}]}";
    let project = with_started_workflow(keys);
    for agent in ["claude", "codex"] {
        assert_eq!(
            hook_answer(&project, agent, "Stop", &json!({"stop_hook_active": false})),
            json!({"systemMessage": "Linchpin: the agent accepts no text at Stop, so only you see this: Write down what you learned."})
        );
    }
    // If the stop is held, the agent reads the reason and the injected text.
    project.rule("not-yet", "---\non: stop\naction: block\n---\nThe tests have not run.\n");
    let held = hook_answer(&project, "claude", "Stop", &json!({"stop_hook_active": false}));
    assert_eq!(held["decision"], "block");
    assert!(held["reason"].as_str().is_some_and(|reason| reason.ends_with("Write down what you learned.")), "{held}");
    assert_eq!(held["systemMessage"], Value::Null);
}

#[test]
fn actions_run_in_order_and_rules_see_their_variables() {
    let keys = "variables: {rounds: 0, last: none}\nrules: [{command_pattern: make, when: rounds >= 2, reason: 'Twice is \
                enough.'}]\ntriggers:\n  before_tool:\n    - {when: \"'make' in event.command\", set: {rounds: '{{ rounds + 1 \
                }}', last: '{{ event.command }}'}}\n    - {when: rounds == 1, inject: 'Round {{ rounds }}: {{ last }}'}\n    \
                - {when: rounds > 1, inject: 'Not round {{ rounds }}.'}";
    let project = with_started_workflow(keys);
    assert_eq!(hook_answer(&project, "claude", "PreToolUse", &bash_call("ls")), Value::Null);
    let first = hook_answer(&project, "claude", "PreToolUse", &bash_call("make {{ 7 * 7 }}"));
    // Text from the agent is not rendered as a template.
    assert_eq!(first["hookSpecificOutput"]["additionalContext"], "Round 1: make {{ 7 * 7 }}");
    let second = hook_answer(&project, "claude", "PreToolUse", &bash_call("make"));
    let refused = second["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default();
    assert!(refused.starts_with("Blocked by Linchpin rule `work/1`: Twice is enough."), "{refused}");
    assert!(refused.ends_with("\n\nNot round 2."), "{refused}");
    // The workflow's variables are shared by all sessions and available in prompts.
    assert_eq!(project.run(&["repeat"]).stdout, "Code 2.\n");
    // Variables of the workflow are not variables of a session.
    assert_eq!(project.run(&["status", "--json"]).json()["session"]["variables"], json!({}));
}

#[test]
fn triggers_set_variables_of_the_session() {
    let keys = "variables: {rounds: 0}\ntriggers: {prompt: [{set: {asked: '{{ asked + 1 }}', rounds: null}}]}";
    let project = with_workflow(keys, "");
    project.config("variables: {asked: 0}\n");
    project.rule("enough", "---\non: stop\naction: block\nwhen: asked >= 2\n---\nYou were asked twice.\n");
    project.run(&["start", "work"]);
    let stop = || hook_answer(&project, "claude", "Stop", &json!({"stop_hook_active": false}));
    for _ in 0..2 {
        assert_eq!(stop(), Value::Null);
        hook_answer(&project, "claude", "UserPromptSubmit", &json!({"prompt": "Go on"}));
    }
    assert_eq!(stop()["decision"], "block");
}

#[test]
fn a_failing_action_is_reported_and_changes_nothing() {
    let keys = "variables: {rounds: 0}\ntriggers:\n  prompt:\n    - {set: {rounds: \"{{ int('x') }}\"}}\n    - {inject: \"{{ \
                int('x') }}\"}\n    - {inject: Fine.}";
    let project = with_started_workflow(keys);
    let answer = hook_answer(&project, "claude", "UserPromptSubmit", &json!({"prompt": "Go"}));
    assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "Fine.");
    assert_snapshot!(answer["systemMessage"].as_str().unwrap_or_default(), @"
    Linchpin: action 1 of `prompt` of workflow `work` did nothing: `rounds` cannot be evaluated: `int` cannot convert this to an integer

    Linchpin: action 2 of `prompt` of workflow `work` did nothing: `inject` cannot be rendered: `int` cannot convert this to an integer
    ");
    assert_eq!(project.run(&["repeat"]).stdout, "Code 0.\n");
}

#[test]
fn a_long_injected_text_is_cut_at_output_limit() {
    let project = project();
    project.config("output_limit: 1KiB\n");
    let text = "words ".repeat(400);
    project.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: code\ntriggers: {{prompt: [{{inject: '{text}'}}]}}\nnodes: {{code: {{prompt: Code., transitions: [{{when: \
             code_complete, to: done}}]}}}}\n"
        ),
    );
    project.run(&["start", "work"]);
    let answer = hook_answer(&project, "claude", "UserPromptSubmit", &json!({"prompt": "Go"}));
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    assert!(text.len() < 1100 && text.ends_with("bytes left out]"), "{text}");
}

#[test]
fn texts_of_nodes_come_before_the_prompt() {
    let node_keys = "    on_enter:\n      - {set: {rounds: '{{ rounds + 1 }}'}}\n      - {inject: 'Round {{ rounds }} begins.'}\n    \
                   on_exit: [{inject: 'Code is done.', when: code_complete}]";
    let project = with_workflow("variables: {rounds: 0}", node_keys);
    assert_snapshot!(project.run(&["start", "work"]).transcript(), @"
    exit 0
    --- stdout
    Round 1 begins.

    Code 1.
    --- stderr
    now at `code` of `work`
    ");
    let agent = project.agent();
    assert_eq!(agent.linchpin(&["next", "--json"]).json()["texts"], json!(["Code is done."]));
    assert_eq!(agent.linchpin(&["next", "--json"]).json()["texts"], Value::Null);
}

#[test]
fn concurrent_changes_of_variables_are_not_lost() {
    let project =
        with_started_workflow("variables: {rounds: 0}\ntriggers: {prompt: [{set: {rounds: '{{ rounds + 1 }}'}}]}");
    std::thread::scope(|scope| {
        for session in ["a", "b", "c", "d"] {
            let project = &project;
            scope.spawn(move || {
                for _ in 0..5 {
                    hook_answer(project, "claude", "UserPromptSubmit", &json!({"prompt": "Go", "session_id": session}));
                }
            });
        }
    });
    assert_eq!(project.run(&["repeat"]).stdout, "Code 20.\n");
}
