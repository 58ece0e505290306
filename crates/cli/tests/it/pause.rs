//! `linchpin pause`: a person suspends the enforcement of the policy for a while.

use serde_json::json;

use super::{NO_DANGER, project, project_without_policy};

#[test]
fn a_pause_suspends_rules_but_not_the_protection_of_the_guard() {
    let project = project();
    project.rule("no-danger", NO_DANGER).rule("wait", "---\non: stop\naction: block\n---\nNot yet.\n");
    insta::assert_snapshot!(project.run(&["pause", "10m", "--reason", "trying  a\nmigration"]).transcript(), @"
    exit 0
    --- stdout
    Paused for 10 minutes in [BASE]/project. Only Linchpin's own files and settings are protected; `linchpin resume` ends the pause.
    --- stderr
    ");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("danger")).transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: paused by a person for 10 more minutes (trying a migration): only Linchpin's own files and settings are protected"}
    --- stderr
    "#);
    assert_eq!(project.hook("claude", &project.bash_payload("danger")).stdout, "");
    assert_eq!(
        project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false }))).stdout,
        ""
    );
    for command in ["linchpin trust", "rm -rf .linchpin", "danger; linchpin allow 1", "if then fi ("] {
        assert_ne!(project.decision(command), "allow", "{command}");
    }
    insta::assert_snapshot!(project.run(&["status"]).stdout, @"
    Project [BASE]/project
    Session claude session-1
    Pause   paused by a person for 10 more minutes (trying a migration): only Linchpin's own files and settings are protected
    Rules   4 rules in force
      no-danger                    block  project
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
      wait                         block  project
    ");
    let paused = &project.run(&["status", "--json"]).json()["paused"];
    assert_eq!(paused["reason"], "trying a migration");
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1));
    assert!(doctor.stdout.contains("bad   paused by a person for 10 more minutes"), "{}", doctor.stdout);

    insta::assert_snapshot!(project.run(&["resume"]).transcript(), @"
    exit 0
    --- stdout
    Resumed: verdicts are enforced again.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["resume"]).transcript(), @"
    exit 0
    --- stdout
    Linchpin is not paused.
    --- stderr
    ");
    assert_eq!(project.decision("danger"), "deny");
    let log = project.run(&["log"]).stdout;
    let shown: Vec<String> = log.lines().map(super::commands::without_time).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    note      1   person pause for 10 minutes: trying a migration
    block     2   claude before_tool Bash danger
          not enforced: paused by a person
          block no-danger
          paused by a person for 10 more minutes (trying a migration): only Linchpin's own files and settings are protected
    block     3   claude before_tool Bash danger
          not enforced: paused by a person
          block no-danger
    block     4   claude stop
          not enforced: paused by a person
          block wait
    block     5   claude before_tool Bash linchpin trust
          block people-only-commands
    block     6   claude before_tool Bash rm -rf .linchpin
          block protect-guardrails
    block     7   claude before_tool Bash danger; linchpin allow 1
          block no-danger
          block people-only-commands
    ask       8   claude before_tool Bash if then fi (
          ask no-danger
    note      9   person resume
    block    10   claude before_tool Bash danger
          block no-danger
    ");
    assert_eq!(project.run(&["log", "--kind", "pause", "--json"]).json()["fields"]["by"], "person");
}

#[test]
fn an_expired_pause_has_no_effect() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.run(&["pause", "1ms", "--reason", "x"]);
    std::thread::sleep(std::time::Duration::from_millis(5));
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("danger")).decision(), @"deny");
    assert_eq!(project.run(&["status", "--json"]).json()["paused"], json!(null));
    assert_eq!(project.run(&["resume"]).stdout, "Linchpin is not paused.\n");
}

#[test]
fn invalid_pauses_are_errors() {
    let project = project();
    insta::assert_snapshot!(project.run(&["pause", "soon", "--reason", "x"]).stderr, @"
    error: invalid duration `soon`
    help: write a duration of at most 24 hours, such as `10m` or `2h`
    ");
    insta::assert_snapshot!(project.run(&["pause", "25h", "--reason", "x"]).stderr, @"
    error: `25h` is longer than 24 hours
    help: write a duration of at most 24 hours, such as `10m` or `2h`
    ");
    insta::assert_snapshot!(project.run(&["pause", "1h", "--reason", " "]).stderr, @"
    error: `--reason` is empty
    help: give the reason in a few words
    ");
    insta::assert_snapshot!(project.run(&["pause", "-1h", "--reason", "x"]).stderr, @"
    error: unexpected argument '-1' found

      tip: to pass '-1' as a value, use '-- -1'

    Usage: linchpin pause [OPTIONS] --reason <TEXT> <DURATION>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.run(&["pause", "1h"]).stderr, @"
    error: the following required arguments were not provided:
      --reason <TEXT>

    Usage: linchpin pause --reason <TEXT> <DURATION>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project_without_policy().run(&["pause", "1h", "--reason", "x"]).stderr, @"
    error: there is no policy for `[BASE]/project`, so there is nothing to pause
    help: run this in the project, or write a policy with `linchpin init`
    ");
    insta::assert_snapshot!(project.run(&["pause", "1h", "--reason", "x", "--json"]).stdout.split(':').next().unwrap_or_default(), @r#"{"paused""#);
}
