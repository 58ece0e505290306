//! Rules that change while a session runs: what is stricter counts at once, what is milder when a person says so.

use std::fs;

use serde_json::json;
use testkit::Scratch;

use super::{NO_DANGER, project};

/// What another session is told.
fn decision_elsewhere(project: &Scratch, command: &str) -> String {
    let mut payload = project.bash(command);
    payload["session_id"] = json!("session-2");
    project.hook("claude", &payload).decision()
}

fn remove(project: &Scratch, rule: &str) {
    fs::remove_file(project.root().join(format!(".linchpin/rules/{rule}.md"))).expect("the rule is there");
}

#[test]
fn a_rule_that_is_removed_stays_for_the_session() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    remove(&project, "no-danger");
    insta::assert_snapshot!(project.hook("claude", &project.bash("danger")).stdout, @r#"{"systemMessage":"Linchpin: rule `no-danger` was removed or switched off during this session; it stays as it was until a person runs `linchpin trust`","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Blocked by Linchpin rule `no-danger`: Danger is not for agents. Use `safety`.\n\nA person can let this call through: `linchpin allow 2`"}}"#);
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(decision_elsewhere(&project, "danger"), "allow");
    insta::assert_snapshot!(project.run(&["status", "--session", "session-1"]).stdout, @"
    Project [BASE]/project
    Session claude session-1
    Rules   2 rules in force
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
    Kept    no-danger was removed or switched off, and counts for this session until `linchpin trust`
    ");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    no-danger was removed or switched off while a session ran, which keeps it as it was
    Accepted. It holds until one of these parts changes.
    --- stderr
    ");
    assert_eq!(project.decision("danger"), "allow");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    nothing in this policy needs trust
    --- stderr
    ");
}

#[test]
fn a_rule_that_is_switched_off_or_made_milder_stays_for_the_session() {
    let project = project();
    project.rule("no-danger", NO_DANGER).config("rules: [hard-reset]\n");
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", &NO_DANGER.replacen("---\n", "---\nenabled: false\n", 1));
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", &NO_DANGER.replacen("---\n", "---\naction: warn\n", 1));
    assert_eq!(project.decision("danger"), "deny");
    project.config("rules: []\n");
    assert_eq!(project.decision("git reset --hard"), "deny");
    assert_eq!(decision_elsewhere(&project, "danger; git reset --hard"), "allow");
    // Back as it was, nothing is kept any more.
    project.rule("no-danger", NO_DANGER).config("rules: [hard-reset]\n");
    assert_eq!(project.decision("danger"), "deny");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    nothing in this policy needs trust
    --- stderr
    ");
}

#[test]
fn other_edits_count_at_the_next_event() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", &NO_DANGER.replace("danger( ", "peril( "));
    assert_eq!(project.decision("danger"), "allow");
    assert_eq!(project.decision("peril"), "deny");
    project.rule("no-harm", &NO_DANGER.replace("danger( ", "harm( "));
    assert_eq!(project.decision("harm"), "deny");
    project.rule("ask-first", "---\ncommand_pattern: '^make'\naction: ask\n---\nAsk.\n");
    assert_eq!(project.decision("make"), "ask");
    project.rule("ask-first", "---\ncommand_pattern: '^make'\naction: block\n---\nNo.\n");
    assert_eq!(project.decision("make"), "deny");
}

#[test]
fn what_one_person_accepted_is_not_what_another_change_takes_away() {
    let project = project();
    project.rule("no-danger", NO_DANGER).rule("no-harm", &NO_DANGER.replace("danger( ", "harm( "));
    assert_eq!(project.decision("danger"), "deny");
    remove(&project, "no-danger");
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    remove(&project, "no-harm");
    assert_eq!(project.decision("danger"), "allow");
    assert_eq!(project.decision("harm"), "deny");
}
