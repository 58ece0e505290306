//! Acknowledgements of rules.

use serde_json::{Value, json};
use testkit::{ProcessOutput, TestProject};

use super::{NO_DANGER, project};

const HOLD: &str = "---\non: stop\naction: block\n---\nRun the tests first.\n";
const WARN: &str = "---\ncommand_pattern: ^make\naction: warn\n---\nThis takes an hour.\n";

fn stop(project: &TestProject, session: &str) -> ProcessOutput {
    let mut event = project.event_payload("Stop", &json!({ "stop_hook_active": false }));
    event["session_id"] = json!(session);
    project.hook("claude", &event)
}

fn run_with_env(project: &TestProject, arguments: &[&str], variable: (&str, &str)) -> ProcessOutput {
    let mut command = project.command(arguments);
    command.env(variable.0, variable.1);
    project.run_with_stdin(command, b"")
}

#[test]
fn an_acknowledged_rule_is_silent_in_that_session() {
    let project = project();
    project.rule("tests-first", HOLD).rule("slow", WARN);
    assert_eq!(stop(&project, "session-1").json()["decision"], "block");
    assert!(project.hook("claude", &project.bash_payload("make")).stdout.contains("an hour"));
    let acknowledged = project.run(&["ack", "tests-first", "--reason", "only a comment changed"]);
    insta::assert_snapshot!(acknowledged.transcript(), @"
    exit 0
    --- stdout
    Acknowledged `tests-first` in session session-1 of claude: until its text changes, it neither warns nor holds the stop there.
    --- stderr
    ");
    project.run(&["ack", "slow", "--reason", "there is time"]);
    assert_eq!(stop(&project, "session-1").stdout, "");
    assert_eq!(project.hook("claude", &project.bash_payload("make")).stdout, "");
    insta::assert_snapshot!(project.run(&["status"]).stdout, @"
    Project [BASE]/project
    Session claude session-1
    Rules   4 rules in force
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
      slow                         warn   project
      tests-first                  block  project
    Holds   tests-first held this session's stop 1 time
    Ack     slow, by the person: there is time
    Ack     tests-first, by the person: only a comment changed
    ");
    let status = project.run(&["status", "--json"]).json();
    assert_eq!(status["session"]["acknowledgements"][1]["reason"], "only a comment changed");
    assert_eq!(status["session"]["acknowledgements"][1]["by"], "person");
    assert_eq!(status["session"]["variables"], json!({}));
    // `explain` shows whether the rule was acknowledged when the event came: event 2 came before the acknowledgement,
    // event 6 after it.
    let explained = project.run(&["explain", "event", "2"]).stdout;
    assert!(explained.contains("slow: warn"), "{explained}");
    let explained = project.run(&["explain", "event", "6"]).stdout;
    assert!(explained.contains("slow: acknowledged in this session"), "{explained}");
    let log = project.run(&["log", "--kind", "ack"]).stdout;
    let shown: Vec<String> = log.lines().map(super::commands::without_time).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    note      3   claude ack: rule `tests-first`, by the person: only a comment changed
    note      4   claude ack: rule `slow`, by the person: there is time
    ");
    let note = project.run(&["log", "--kind", "ack", "--json", "--limit", "1"]).json();
    assert!(note["fields"]["digest"].as_str().is_some_and(|digest| digest.len() == 24), "{note}");
    // An acknowledgement does not count in other sessions.
    assert_eq!(stop(&project, "session-2").json()["decision"], "block");
    // An acknowledgement does not count after the rule's text has changed.
    project.rule("tests-first", &HOLD.replace("first", "first, all of them"));
    assert_eq!(stop(&project, "session-1").json()["decision"], "block");
}

#[test]
fn an_agents_acknowledgement_counts_only_in_its_session() {
    let project = project();
    project.rule("tests-first", HOLD);
    stop(&project, "session-1");
    stop(&project, "session-2");
    let arguments = ["ack", "tests-first", "--reason", "docs only", "--json"];
    let reply = run_with_env(&project, &arguments, ("CLAUDE_CODE_SESSION_ID", "session-1"));
    insta::assert_snapshot!(reply.stdout, @r#"{"acknowledged":"tests-first","agent":"claude","session":"session-1","reason":"docs only","by":"agent"}"#);
    assert_eq!(stop(&project, "session-1").stdout, "");
    assert_eq!(stop(&project, "session-2").json()["decision"], "block");
    // The acknowledgement counts in the agent's session, whatever the working directory.
    project.file("sub/.linchpin/rules/deep.md", WARN);
    for rule in ["tests-first", "deep"] {
        let mut command = project.command(&["ack", rule, "--reason", "x", "--json"]);
        command.env("CLAUDE_CODE_SESSION_ID", "session-1").current_dir(project.root().join("sub"));
        assert_eq!(project.run_with_stdin(command, b"").json()["session"], "session-1", "{rule}");
    }
    // With `--session`, the acknowledgement counts in another session.
    project.run(&["ack", "tests-first", "--reason", "x", "--session", "session-2"]);
    assert_eq!(stop(&project, "session-2").stdout, "");
}

#[test]
fn an_open_call_identifies_the_session_that_acknowledges() {
    let project = project();
    project.rule("tests-first", HOLD).rule("by-hand", &HOLD.replace("---\non", "---\nack: human\non"));
    let bash_call = |session: &str, command: &str| {
        let mut event = project.bash_payload(command);
        event["session_id"] = json!(session);
        event
    };
    let ack = |rule: &str| -> Value { project.run(&["ack", rule, "--reason", "x", "--json"]).json() };
    project.hook("claude", &bash_call("session-1", "cd sub && linchpin ack tests-first --reason x"));
    project.hook("claude", &bash_call("session-2", "ls"));
    assert_eq!(ack("tests-first")["session"], "session-1");
    assert_eq!(ack("tests-first")["by"], "agent");
    // Only a person may acknowledge `by-hand`, so the guard refuses the agent's command. In observe mode, the guard
    // refuses nothing, but the command itself fails, because it runs in an agent's call.
    let refused = project.hook("claude", &bash_call("session-1", "linchpin ack by-hand --reason x"));
    assert_eq!(refused.decision(), "deny");
    project.config("mode: observe\n").run(&["trust", "--yes"]);
    project.hook("claude", &bash_call("session-1", "linchpin ack by-hand --reason x"));
    assert_eq!(ack("by-hand")["error"]["kind"], "NotAPerson");
    let mut after = bash_call("session-1", "linchpin ack by-hand --reason x");
    after["hook_event_name"] = json!("PostToolUse");
    after["tool_response"] = json!({ "stdout": "", "stderr": "" });
    project.hook("claude", &after);
    assert_eq!(ack("by-hand")["by"], "person");
}

#[test]
fn invalid_acknowledgements_are_errors() {
    let project = project();
    project.rule("no-danger", NO_DANGER).rule("by-hand", &HOLD.replace("---\non", "---\nack: human\non"));
    project.rule("tests-first", HOLD);
    insta::assert_snapshot!(project.run(&["ack", "tests-first", "--reason", "x"]).stderr, @"
    error: there is no journal yet for `[BASE]/project`
    help: the first event of an agent's hook creates it; `linchpin doctor` shows whether a hook is installed
    ");
    stop(&project, "session-1");
    insta::assert_snapshot!(project.run(&["ack", "test-first", "--reason", "x"]).stderr, @"
    error: there is no rule `test-first`
    help: did you mean `tests-first`?
    ");
    insta::assert_snapshot!(project.run(&["ack", "zzz", "--reason", "x"]).stderr, @"
    error: there is no rule `zzz`
    help: `linchpin rules list` lists the rules
    ");
    insta::assert_snapshot!(project.run(&["ack", "no-danger", "--reason", "x"]).stderr, @"
    error: rule `no-danger` refuses or approves calls, so there is nothing to acknowledge
    help: a person can allow a single call: `linchpin allow ID`, with the number in the refusal
    ");
    insta::assert_snapshot!(project.run(&["ack", "tests-first", "--reason", ""]).stderr, @"
    error: `--reason` is empty
    help: say why the rule does not apply
    ");
    insta::assert_snapshot!(project.run(&["ack", "tests-first", "--reason", "x", "--session", "s9"]).stderr, @"
    error: the journal has no session `s9`
    help: `linchpin log --json` shows the session of each event
    ");
    let refused = run_with_env(&project, &["ack", "by-hand", "--reason", "x"], ("AI_AGENT", "claude-code"));
    insta::assert_snapshot!(refused.transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: only a person may acknowledge rule `by-hand` (`ack: human`), and this process was started by an agent
    help: tell the person why you need it, and let them decide
    ");
    assert_eq!(project.run(&["ack", "by-hand", "--reason", "x"]).code, Some(0));
}
