//! `linchpin memory`: people and agents save, search and delete memories.

use serde_json::json;
use testkit::TestProject;

use super::project;
use super::rules::run_as_agent;

fn transcripts_of(project: &TestProject, commands: &[&[&str]]) -> String {
    let transcripts = commands.iter().map(|arguments| {
        let reply = project.run(&[&["memory"], *arguments].concat());
        let shown: Vec<String> = arguments.iter().map(|word| word.chars().take(60).collect()).collect();
        format!("$ memory {}\n{}{}[{}]\n", shown.join(" "), reply.stdout, reply.stderr, reply.code.unwrap_or(-1))
    });
    transcripts.collect()
}

#[test]
fn memories_are_found_again() {
    let project = project();
    let long = format!("{}\nand more", "A long line. ".repeat(12).trim_end());
    insta::assert_snapshot!(transcripts_of(
        &project,
        &[
            &["list"],
            &["search", "anything"],
            &[
                "add",
                "--type",
                "fix",
                "Tests time out where the database is locked:\nclose the pool first.",
                "--tag",
                "db",
                "--tag",
                "tests"
            ],
            &["add", "One handler a file, in src/http.", "--type", "pattern", "--tag", "http,layout"],
            &["add", "SQLite over Postgres: one file, no server.", "--type", "decision", "--tag", "db"],
            &["add", &long],
            &["list"],
            &["list", "--tag", "db"],
            &["list", "--type", "decision"],
            &["search", "database", "locked"],
            &["search", "file"],
            &["search", "file", "--type", "pattern"],
            &["search", "file server handler"],
            &["show", "m2"],
            &["delete", "m2"],
            &["show", "m2"],
            &["delete", "2"],
            &["search", "handler"],
        ]
    ));
}

#[test]
fn invalid_memories_are_errors() {
    let project = project();
    project.run(&["memory", "add", "Something"]);
    let long = "x".repeat(64 * 1024 + 1);
    insta::assert_snapshot!(transcripts_of(
        &project,
        &[
            &["add", ""],
            &["add", " \n "],
            &["add", &long],
            &["add", "Text", "--type", "idea"],
            &["add", "Text", "--tag", "two words"],
            &["add", "Text", "--tag", ""],
            &["show", "mm1"],
            &["show", "something"],
            &["search"],
            &["search", "***", "\"\""],
            &["search", "NOT", "something\" OR *", "text:some", "NEAR(a", "b)"],
            &["search", "some*"],
        ]
    ));
}

#[test]
fn agents_save_and_find_memories_and_secrets_are_masked() {
    let project = project();
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let added = run_as_agent(&project, &["memory", "add", "--type", "fix", &format!("use {token}"), "--json"], "");
    assert_eq!(added.code, Some(0), "{}", added.transcript());
    let memory = &added.json()["memory"];
    assert_eq!((&memory["id"], &memory["type"], &memory["text"]), (&json!("m1"), &json!("fix"), &json!("use ***")));
    let found = run_as_agent(&project, &["memory", "search", "use", "--json"], "").json();
    assert_eq!((&found["total"], &found["memories"][0]["id"]), (&json!(1), &json!("m1")));
    assert_eq!(run_as_agent(&project, &["memory", "delete", "m1"], "").code, Some(0));
    assert_eq!(project.run(&["memory", "list", "--json"]).json(), json!({ "memories": [] }));
}

#[test]
fn every_line_of_a_shown_memory_is_indented() {
    let project = project();
    for separator in ['\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'] {
        let text = format!("a{separator}mem-1 (fix)");
        let id = project.run(&["memory", "add", &text]).stdout;
        let shown = project.run(&["memory", "search", "mem-1"]).stdout;
        assert!(shown.contains("    a\n    mem-1 (fix)\n"), "{id}: {shown}");
    }
}
