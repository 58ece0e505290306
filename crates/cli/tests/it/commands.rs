//! `demo`, `log`, `status`, `doctor`, and what the command line says of itself.

use serde_json::json;

use super::{NO_DANGER, bare, project};

#[test]
fn help() {
    insta::assert_snapshot!(bare().run(&["--help"]).transcript(), @"");
    let version = bare().run(&["--version"]).stdout;
    assert_eq!(version.trim(), format!("linchpin {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_line() {
    insta::assert_snapshot!(bare().run(&["gaurd"]).transcript(), @"");
    assert_eq!(bare().run(&[]).code, Some(2));
}

#[test]
fn demo() {
    let reply = bare().run(&["demo"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    insta::assert_snapshot!(reply.stdout);
    let steps = bare().run(&["demo", "--json"]).json();
    assert_eq!(steps["steps"].as_array().map(Vec::len), Some(11));
}

#[test]
fn log_shows_what_happened_and_masks_secrets() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.decision("ls -la");
    project.decision("danger --password hunter2");
    project.hook("claude", &project.event("UserPromptSubmit", &json!({ "prompt": "my secret plan" })));
    let log = project.run(&["log"]).stdout;
    let shown: Vec<String> = log.lines().map(without_time).collect();
    insta::assert_snapshot!(shown.join("\n"), @"");
    let blocked = project.run(&["log", "--level", "block", "--json"]);
    assert_eq!(blocked.stdout.lines().count(), 1);
    assert_eq!(blocked.json()["verdict"]["findings"][0]["rule"], "no-danger");
    let everything = project.run(&["log", "--json", "--limit", "0"]).stdout;
    assert!(!everything.contains("hunter2") && !everything.contains("secret plan"), "{everything}");
    assert_eq!(project.run(&["log", "--rule", "no-danger", "--since", "1h", "--json"]).stdout.lines().count(), 1);
    assert_eq!(project.run(&["log", "--session", "other"]).stdout, "Nothing in the journal fits.\n");
}

fn without_time(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_time = |word: &&str| !(word.len() >= 8 && word.starts_with(|first: char| first.is_ascii_digit()) && word.contains(['-', ':']));
    words.into_iter().filter(is_time).collect::<Vec<_>>().join(" ")
}

#[test]
fn log_says_what_it_does_not_understand() {
    let project = project();
    project.decision("ls");
    insta::assert_snapshot!(project.run(&["log", "--level", "blok"]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["log", "--kind", "PreToolUse"]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["log", "--since", "yesterday"]).transcript(), @"");
}

#[test]
fn log_without_a_journal() {
    insta::assert_snapshot!(project().run(&["log"]).transcript(), @"");
    insta::assert_snapshot!(project().run(&["log", "--json"]).transcript(), @"");
}

#[test]
fn log_prune_keeps_what_is_young_enough() {
    let project = project();
    project.decision("ls");
    insta::assert_snapshot!(project.run(&["log", "prune"]).transcript(), @"");
    project.config("retention: 0s\n");
    std::thread::sleep(std::time::Duration::from_millis(5));
    insta::assert_snapshot!(project.run(&["log", "prune"]).transcript(), @"");
}

#[test]
fn control_characters_of_an_agent_do_not_reach_the_terminal() {
    let project = project();
    project.decision("echo \u{1b}[31mred\u{7}");
    let log = project.run(&["log"]).stdout;
    assert!(!log.contains('\u{1b}') && !log.contains('\u{7}'), "{log:?}");
}

#[test]
fn status() {
    let project = project();
    project.rule("wait", "---\non: stop\naction: block\n---\nNot yet.\n");
    insta::assert_snapshot!(project.run(&["status"]).transcript(), @"");
    project.hook("claude", &project.event("Stop", &json!({ "stop_hook_active": false })));
    insta::assert_snapshot!(project.run(&["status"]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["status", "--json"]).stdout, @"");
}

#[test]
fn doctor_without_anything() {
    insta::assert_snapshot!(bare().run(&["doctor"]).transcript(), @"");
}

#[test]
fn doctor_after_init() {
    let project = bare();
    project.run(&["init", "--agent", "claude", "--agent", "codex"]);
    insta::assert_snapshot!(project.run(&["doctor"]).transcript(), @"");
    assert_eq!(project.run(&["doctor", "--json"]).json()["effective"], true);
}

#[test]
fn doctor_sees_what_makes_the_guard_ineffective() {
    let project = bare();
    project.run(&["init", "--agent", "claude"]);
    let settings = std::fs::read_to_string(project.root().join(".claude/settings.json")).expect("settings");
    project.file(".claude/settings.json", settings.replacen('{', "{ \"disableAllHooks\": true,", 1));
    project.rule("broken", "---\ntoolz: x\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["doctor"]).transcript(), @"");
}
