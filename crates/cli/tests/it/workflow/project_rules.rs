//! Rules of a workflow beside those of the project.

use serde_json::json;

use super::{begin_phases_earlier, two_nodes, with_rules};
use crate::project;

#[test]
fn rules_of_the_project_know_the_workflow_that_is_active() {
    let scratch = with_rules("      []");
    scratch.rule(
        "code",
        "---\ncommand_pattern: ^danger\nwhen: workflow.name == 'work' and phase.name == 'code'\n---\nNot in code.\n",
    );
    scratch.rule("idle", "---\ncommand_pattern: ^hazard\nwhen: not workflow.active\n---\nStart a workflow.\n");
    scratch.rule("late", "---\ncommand_pattern: ^wait\nwhen: phase.elapsed > 300\n---\nToo late.\n");
    assert_eq!(scratch.run(&["validate"]).code, Some(0));
    let mut agent = scratch.agent();
    let mut decisions = || ["danger", "hazard", "wait"].map(|command| agent.before(command).decision());
    assert_eq!(decisions(), ["allow", "deny", "allow"]);
    scratch.run(&["start", "work"]);
    assert_eq!(decisions(), ["deny", "allow", "allow"]);
    begin_phases_earlier(&scratch, 400_000);
    assert_eq!(decisions(), ["deny", "allow", "deny"]);
    scratch.run(&["next"]);
    assert_eq!(decisions(), ["allow", "allow", "allow"]);
    // A replay knows what was asked for then.
    let replayed = scratch.run(&["replay", "--json"]).json();
    assert_eq!(replayed["summary"]["undecidable"], 0, "{replayed}");
}

#[test]
fn rules_of_the_project_know_the_claims_that_led_to_the_phase() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nclaims: [urgent]\nvariables: {hurried: false}\nnodes:\n  code: {prompt: Code., transitions: [{when: code_complete or urgent, to: \
         review}]}\n  review:\n    prompt: Review.\n    on_enter: [{set: {hurried: true}, when: urgent}]\n    transitions: [{when: \
         review_complete, to: code}]\n",
    );
    scratch.rule("calm", "---\ncommand_pattern: ^deploy\nwhen: claims.urgent\n---\nNot in a hurry.\n");
    assert_eq!(scratch.run(&["validate"]).code, Some(0), "{}", scratch.run(&["validate"]).stdout);
    let mut agent = scratch.agent();
    let mut deploys = || agent.before("deploy").decision();
    assert_eq!(deploys(), "allow");
    scratch.run(&["start", "work"]);
    assert_eq!(deploys(), "allow");
    scratch.run(&["next", "code_complete", "urgent"]);
    assert_eq!(deploys(), "deny");
    assert!(scratch.run(&["log", "--json"]).stdout.contains("hurried"), "`on_enter` knows the claims of the move");
    // A claim of the move before is gone, and going back is no claim.
    scratch.run(&["next"]);
    assert_eq!(deploys(), "allow");
    scratch.run(&["prev"]);
    assert_eq!(deploys(), "allow");
    let replayed = scratch.run(&["replay", "--json"]).json();
    assert_eq!(replayed["summary"]["undecidable"], 0, "{replayed}");
    assert_eq!(replayed["summary"]["changed"], 0, "{replayed}");
    scratch.run(&["abort"]);
    assert_eq!(deploys(), "allow");
}

#[test]
fn a_call_that_a_person_let_through_counts() {
    let scratch =
        two_nodes("", "    rules: [{repeated_command: {pattern: danger, threshold: 1, window: 600}, live: off}]");
    scratch.rule("no-danger", "---\ncommand_pattern: danger\n---\nNo.\n");
    scratch.run(&["start", "work"]);
    let refused = scratch.hook("claude", &scratch.bash("danger"));
    let reason = refused.reason();
    let number = reason.rsplit_once("linchpin allow ").expect("a number").1.trim_end_matches('`').to_owned();
    assert_eq!(scratch.run(&["allow", &number, "--yes"]).code, Some(0));
    assert_eq!(scratch.hook("claude", &scratch.bash("danger")).decision(), "allow");
    assert_eq!(scratch.run(&["next"]).code, Some(3));
}

#[test]
fn rules_of_a_workflow_may_ask_about_those_of_the_project() {
    let rule = "{on: stop, when: \"not file_rule_met('docs')\", reason: Docs first.}";
    let scratch = two_nodes("", &format!("    rules: [{rule}]"));
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    scratch.rule("docs", "---\ntrigger: 'src/**'\nsafety: README.md\naction: warn\n---\nLook.\n");
    scratch.run(&["start", "work"]);
    let stop = || scratch.hook("claude", &scratch.event("Stop", &json!({"stop_hook_active": false}))).stdout;
    assert_eq!(stop(), "");
    scratch.file("src/a.rs", "a");
    let held = stop();
    assert!(held.contains("Docs first.") && !held.contains("at fault"), "{held}");
}

#[test]
fn a_rule_of_a_workflow_compares_with_the_prompt() {
    let rule = "{set: ['src/{p}.rs', 'tests/{p}.rs'], compare_to: prompt, attribute: tree, reason: Both.}";
    let scratch = two_nodes("", &format!("    rules: [{rule}]"));
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    scratch.run(&["start", "work"]);
    // Work that was there before the prompt is not asked about.
    scratch.file("src/a.rs", "a");
    scratch.hook("claude", &scratch.event("UserPromptSubmit", &json!({"prompt": "go on"})));
    let stop = || scratch.hook("claude", &scratch.event("Stop", &json!({"stop_hook_active": false}))).stdout;
    assert_eq!(stop(), "");
    scratch.file("src/b.rs", "b");
    let held = stop();
    assert!(held.contains("src/b.rs → tests/b.rs") && !held.contains("src/a.rs"), "{held}");
}
