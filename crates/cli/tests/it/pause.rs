//! A person sets the guard aside for a while.

use serde_json::json;

use super::{NO_DANGER, bare, project};

#[test]
fn a_pause_lifts_what_rules_say_but_not_what_protects_the_guard() {
    let project = project();
    project.rule("no-danger", NO_DANGER).rule("wait", "---\non: stop\naction: block\n---\nNot yet.\n");
    insta::assert_snapshot!(project.run(&["pause", "10m", "--reason", "trying  a\nmigration"]).transcript(), @"");
    insta::assert_snapshot!(project.hook("claude", &project.bash("danger")).transcript(), @"");
    assert_eq!(project.hook("claude", &project.bash("danger")).stdout, "");
    assert_eq!(project.hook("claude", &project.event("Stop", &json!({ "stop_hook_active": false }))).stdout, "");
    for command in ["linchpin trust", "rm -rf .linchpin", "danger; linchpin allow 1", "if then fi ("] {
        assert_ne!(project.decision(command), "allow", "{command}");
    }
    insta::assert_snapshot!(project.run(&["status"]).stdout, @"");
    let paused = &project.run(&["status", "--json"]).json()["paused"];
    assert_eq!(paused["reason"], "trying a migration");
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1));
    assert!(doctor.stdout.contains("bad   paused by a person for 10 more minutes"), "{}", doctor.stdout);

    insta::assert_snapshot!(project.run(&["resume"]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["resume"]).transcript(), @"");
    assert_eq!(project.decision("danger"), "deny");
    let log = project.run(&["log"]).stdout;
    let shown: Vec<String> = log.lines().map(super::commands::without_time).collect();
    insta::assert_snapshot!(shown.join("\n"), @"");
    assert_eq!(project.run(&["log", "--kind", "pause", "--json"]).json()["fields"]["by"], "person");
}

#[test]
fn a_pause_that_has_ended_counts_for_nothing() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.run(&["pause", "1ms", "--reason", "x"]);
    std::thread::sleep(std::time::Duration::from_millis(5));
    insta::assert_snapshot!(project.hook("claude", &project.bash("danger")).decision(), @"deny");
    assert_eq!(project.run(&["status", "--json"]).json()["paused"], json!(null));
    assert_eq!(project.run(&["resume"]).stdout, "The guard is not paused.\n");
}

#[test]
fn what_is_no_pause() {
    let project = project();
    insta::assert_snapshot!(project.run(&["pause", "soon", "--reason", "x"]).stderr, @"");
    insta::assert_snapshot!(project.run(&["pause", "25h", "--reason", "x"]).stderr, @"");
    insta::assert_snapshot!(project.run(&["pause", "1h", "--reason", " "]).stderr, @"");
    insta::assert_snapshot!(project.run(&["pause", "-1h", "--reason", "x"]).stderr, @"");
    insta::assert_snapshot!(project.run(&["pause", "1h"]).stderr, @"");
    insta::assert_snapshot!(bare().run(&["pause", "1h", "--reason", "x"]).stderr, @"");
    insta::assert_snapshot!(project.run(&["pause", "1h", "--reason", "x", "--json"]).stdout.split(':').next().unwrap_or_default(), @"");
}
