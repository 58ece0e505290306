//! In `mode: observe`, Linchpin judges all events and refuses nothing. The setting `output_limit` is tested here, too.

use serde_json::json;

use crate::{NO_DANGER, project};

const HOLD: &str = "---\non: stop\naction: block\nmax_holds: 1\n---\nNot yet.\n";

#[test]
fn nothing_is_stopped_and_everything_is_recorded() {
    let project = project();
    project.config("mode: observe\n").rule("no-danger", NO_DANGER).rule("wait", HOLD);
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project.rule("careful", "---\ncommand_pattern: ^danger\naction: warn\n---\nMind the step.\n");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("danger")).transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: observe mode: events are judged and recorded, but nothing is blocked\n\nWarning by Linchpin rule `careful`: Mind the step. Matched: `danger`","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"Warning by Linchpin rule `careful`: Mind the step. Matched: `danger`"}}
    --- stderr
    "#);
    let stop =
        || project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": true }))).transcript();
    // In enforce mode, the rule would allow the second stop and tell the person. In observe mode, holds are not
    // counted.
    for _ in 0..3 {
        assert_eq!(stop(), "exit 0\n--- stdout\n--- stderr\n");
    }
    let log = project.run(&["log", "--json", "--level", "block", "--limit", "1"]).json();
    assert_eq!(log["verdict"]["lifted"], "observe");
    let log = project.run(&["log", "--level", "block", "--limit", "1"]).stdout;
    insta::assert_snapshot!(crate::commands::without_time(&log), @"
    block     4   claude stop
          not enforced: observe mode
          block wait
    ");
    assert_eq!(project.run(&["status", "--json"]).json()["session"]["holds"], json!({}));
}

#[test]
fn session_start_status_and_doctor_show_observe_mode() {
    let project = project();
    project.run(&["init", "--agent", "claude"]);
    project.config("mode: observe\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    let start =
        || project.hook("claude", &project.event_payload("SessionStart", &json!({ "source": "startup" }))).stdout;
    insta::assert_snapshot!(start(), @r#"{"systemMessage":"Linchpin: observe mode: events are judged and recorded, but nothing is blocked"}"#);
    assert_eq!(project.hook("claude", &project.bash_payload("ls")).stdout, "");
    // The notice is repeated at every start of a session.
    assert!(start().contains("observe mode"));
    insta::assert_snapshot!(project.run(&["status"]).stdout, @"
    Project [BASE]/project
    Session claude session-1
    Mode    observe mode: events are judged and recorded, but nothing is blocked
    Rules   2 rules in force
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
    ");
    insta::assert_snapshot!(project.run(&["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project

    ok    2 rules in force
    bad   observe mode: events are judged and recorded, but nothing is blocked
          set `mode: enforce` in the configuration to end it
    ok    journal at [BASE]/project/.linchpin/state.db
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    ok    Claude Code: self-test passed: the program answers; without `mode: observe`, it would refuse `linchpin trust`
    --- stderr
    ");
}

#[test]
fn unreadable_calls_are_not_stopped() {
    let project = project();
    project.config("mode: observe\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project.decision("ls");
    let whole = project.bash_payload("danger").to_string();
    let reply = project.hook_with_bytes("claude", &whole.as_bytes()[..whole.len() - 20]);
    assert_eq!(reply.transcript(), "exit 0\n--- stdout\n--- stderr\n");
}

#[test]
fn a_long_reason_is_cut_at_output_limit() {
    let project = project();
    let reason = "Danger is not for agents, and never was. ".repeat(60);
    project.rule("no-danger", &format!("---\ncommand_pattern: ^danger\n---\n{reason}\n"));
    assert!(project.hook("claude", &project.bash_payload("danger")).reason().len() > 2400);
    project.config("output_limit: 1 KiB\n");
    let reason_text = project.hook("claude", &project.bash_payload("danger")).reason();
    insta::assert_snapshot!(reason_text[reason_text.len() - 150..], @"
    ger is not for agents, and never was. Danger is not for agents, and never
    [1458 bytes left out]

    A person can allow this call once: `linchpin allow 2`
    ");
    project.config("output_limit: 1000 KiB\nmode: watch\n");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: `output_limit` must be a size from `1 KiB` to `64 KiB`
     --> .linchpin/config.yml:1:15
      |
    1 | output_limit: 1000 KiB
      |               ^^^^^^^^

    error: `mode` must be one of `enforce`, `observe`, not `watch`
     --> .linchpin/config.yml:2:7
      |
    2 | mode: watch
      |       ^^^^^

    note: .linchpin/config.yml has errors, so its last valid version stays in force

    3 rules in force; 2 errors.
    ");
}

#[test]
fn session_start_status_doctor_and_try_tell_that_the_rules_are_switched_off() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    project.config("enabled: false\n");
    // Without trust, the setting does not apply.
    assert!(!project.run(&["status"]).stdout.contains("switched off"));
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    let mut start = project.event_payload("SessionStart", &json!({ "source": "startup" }));
    start["session_id"] = json!("session-2");
    insta::assert_snapshot!(project.hook("claude", &start).stdout, @r#"{"systemMessage":"Linchpin: switched off: with `enabled: false`, only the rules that protect Linchpin itself are in force"}"#);
    insta::assert_snapshot!(project.run(&["status"]).stdout, @"
    Project [BASE]/project
    Session claude session-2
    Mode    switched off: with `enabled: false`, only the rules that protect Linchpin itself are in force
    Rules   2 rules in force
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
    ");
    assert_eq!(project.run(&["status", "--json"]).json()["enabled"], false);
    insta::assert_snapshot!(project.run(&["try", "danger"]).transcript(), @"
    exit 0
    --- stdout
    allow: no rule matched

    note: switched off: with `enabled: false`, only the rules that protect Linchpin itself are in force
    --- stderr
    ");
    let doctor = project.run(&["doctor", "--json"]).json();
    assert_eq!(doctor["effective"], false);
    insta::assert_snapshot!(doctor["checks"][1], @r#"{"state":"bad","message":"switched off: with `enabled: false`, only the rules that protect Linchpin itself are in force","help":"set `enabled: true` in the configuration to end it"}"#);
}

#[test]
fn a_session_that_keeps_its_rules_is_not_told_that_they_are_switched_off() {
    let project = project();
    project.user_rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    std::fs::write(project.user_policy().join("config.yml"), "enabled: false\n").expect("a file");
    let start = project.hook("claude", &project.event_payload("SessionStart", &json!({ "source": "resume" })));
    assert!(!start.stdout.contains("switched off:"), "{}", start.stdout);
    let tried = project.run(&["try", "danger"]);
    assert_eq!(tried.code, Some(1), "{}", tried.stdout);
    assert!(!tried.stdout.contains("switched off:"), "{}", tried.stdout);
}
