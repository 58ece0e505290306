//! Rules of a workflow together with those of the project.

use serde_json::json;

use super::{begin_phases_earlier, with_rules, with_two_nodes};
use crate::project;

#[test]
fn rules_of_the_project_see_the_active_workflow() {
    let project = with_rules("      []");
    project.rule(
        "code",
        "---\ncommand_pattern: ^danger\nwhen: workflow.name == 'work' and phase.name == 'code'\n---\nNot in code.\n",
    );
    project.rule("idle", "---\ncommand_pattern: ^hazard\nwhen: not workflow.active\n---\nStart a workflow.\n");
    project.rule("late", "---\ncommand_pattern: ^wait\nwhen: phase.elapsed > 300\n---\nToo late.\n");
    assert_eq!(project.run(&["validate"]).code, Some(0));
    let mut agent = project.agent();
    let mut decisions = || ["danger", "hazard", "wait"].map(|command| agent.before(command).decision());
    assert_eq!(decisions(), ["allow", "deny", "allow"]);
    project.run(&["start", "work"]);
    assert_eq!(decisions(), ["deny", "allow", "allow"]);
    begin_phases_earlier(&project, 400_000);
    assert_eq!(decisions(), ["deny", "allow", "deny"]);
    project.run(&["next"]);
    assert_eq!(decisions(), ["allow", "allow", "allow"]);
    // `replay` uses the facts that were recorded with the events.
    let replayed = project.run(&["replay", "--json"]).json();
    assert_eq!(replayed["summary"]["undecidable"], 0, "{replayed}");
}

#[test]
fn rules_of_the_project_see_the_claims_that_led_to_the_phase() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nclaims: [urgent]\nvariables: {hurried: false}\nnodes:\n  code: {prompt: Code., transitions: [{when: code_complete or urgent, to: \
         review}]}\n  review:\n    prompt: Review.\n    on_enter: [{set: {hurried: true}, when: urgent}]\n    transitions: [{when: \
         review_complete, to: code}]\n",
    );
    project.rule("calm", "---\ncommand_pattern: ^deploy\nwhen: claims.urgent\n---\nNot in a hurry.\n");
    assert_eq!(project.run(&["validate"]).code, Some(0), "{}", project.run(&["validate"]).stdout);
    let mut agent = project.agent();
    let mut deploy_decision = || agent.before("deploy").decision();
    assert_eq!(deploy_decision(), "allow");
    project.run(&["start", "work"]);
    assert_eq!(deploy_decision(), "allow");
    project.run(&["next", "code_complete", "urgent"]);
    assert_eq!(deploy_decision(), "deny");
    assert!(project.run(&["log", "--json"]).stdout.contains("hurried"), "`on_enter` sees the claims of the move");
    // A claim counts only in the phase that its move led to. `linchpin prev` sets no claim.
    project.run(&["next"]);
    assert_eq!(deploy_decision(), "allow");
    project.run(&["prev"]);
    assert_eq!(deploy_decision(), "allow");
    let replayed = project.run(&["replay", "--json"]).json();
    assert_eq!(replayed["summary"]["undecidable"], 0, "{replayed}");
    assert_eq!(replayed["summary"]["changed"], 0, "{replayed}");
    project.run(&["abort"]);
    assert_eq!(deploy_decision(), "allow");
}

#[test]
fn an_allowed_call_counts_for_pace_rules() {
    let project =
        with_two_nodes("", "    rules: [{repeated_command: {pattern: danger, threshold: 1, window: 600}, live: off}]");
    project.rule("no-danger", "---\ncommand_pattern: danger\n---\nNo.\n");
    project.run(&["start", "work"]);
    let refused = project.hook("claude", &project.bash_payload("danger"));
    let reason = refused.reason();
    let number = reason.rsplit_once("linchpin allow ").expect("a number").1.trim_end_matches('`').to_owned();
    assert_eq!(project.run(&["allow", &number, "--yes"]).code, Some(0));
    assert_eq!(project.hook("claude", &project.bash_payload("danger")).decision(), "allow");
    assert_eq!(project.run(&["next"]).code, Some(3));
}

#[test]
fn rules_of_a_workflow_can_use_file_rule_met() {
    let rule = "{on: stop, when: \"not file_rule_met('docs')\", reason: Docs first.}";
    let project = with_two_nodes("", &format!("    rules: [{rule}]"));
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    project.rule("docs", "---\ntrigger: 'src/**'\nsafety: README.md\naction: warn\n---\nLook.\n");
    project.run(&["start", "work"]);
    let stop = || project.hook("claude", &project.event_payload("Stop", &json!({"stop_hook_active": false}))).stdout;
    assert_eq!(stop(), "");
    project.file("src/a.rs", "a");
    let held = stop();
    assert!(held.contains("Docs first.") && !held.contains("could not evaluate"), "{held}");
}

#[test]
fn a_rule_of_a_workflow_compares_with_the_prompt() {
    let rule = "{set: ['src/{p}.rs', 'tests/{p}.rs'], compare_to: prompt, attribute: tree, reason: Both.}";
    let project = with_two_nodes("", &format!("    rules: [{rule}]"));
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    project.run(&["start", "work"]);
    // Changes from before the prompt do not count.
    project.file("src/a.rs", "a");
    project.hook("claude", &project.event_payload("UserPromptSubmit", &json!({"prompt": "go on"})));
    let stop = || project.hook("claude", &project.event_payload("Stop", &json!({"stop_hook_active": false}))).stdout;
    assert_eq!(stop(), "");
    project.file("src/b.rs", "b");
    let held = stop();
    assert!(held.contains("src/b.rs → tests/b.rs") && !held.contains("src/a.rs"), "{held}");
}
