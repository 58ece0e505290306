//! `explain`: the work behind a verdict, or behind a piece of syntax.

use serde_json::{Value, json};

use super::{NO_DANGER, project};

fn corpus(name: &str) -> Vec<Value> {
    let path = format!("{}/../../corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Every tenth case: all of them run in the engine's own tests.
#[test]
fn patterns_of_the_corpus_through_the_binary() {
    let project = project();
    for case in corpus("patterns.jsonl").iter().step_by(10) {
        let (pattern, path) = (case["pattern"].as_str().expect("text"), case["path"].as_str().expect("text"));
        let reply = project.run(&["explain", "pattern", "--json", "--", pattern, path]);
        if case["error"] == true {
            assert_eq!(reply.code, Some(2), "{case}");
            continue;
        }
        assert_eq!(reply.json()["matches"], case["matches"], "{case}");
        if case["matches"] == true {
            assert_eq!(reply.json()["captures"], case["captures"], "{case}");
        }
    }
}

#[test]
fn expressions_of_the_corpus_through_the_binary() {
    let project = project();
    for case in corpus("expressions.jsonl").iter().step_by(25) {
        let with = case["with"].to_string();
        let reply = project.run(&["explain", "when", "--json", "--with", &with, "--", case["expr"].as_str().expect("text")]);
        if case["error"] == true {
            assert_eq!(reply.code, Some(2), "{case}");
        } else {
            assert_eq!(reply.json()["truthy"], case["truthy"], "{case}");
        }
    }
}

#[test]
fn a_pattern() {
    let project = project();
    insta::assert_snapshot!(project.run(&["explain", "pattern", "src/{path}.rs", "src/a/b.rs"]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["explain", "pattern", "src/{path", "x"]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["explain", "pattern", "src/{path", "x", "--json"]).transcript(), @"");
}

#[test]
fn an_expression() {
    let project = project();
    insta::assert_snapshot!(project.run(&["explain", "when", "a + 1 > b", "--with", r#"{"a":1}"#]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["explain", "when", "len(x", "--json"]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["explain", "when", "x", "--with", "[1]"]).transcript(), @"");
}

#[test]
fn a_command() {
    let project = project();
    let command = "cd sub && git commit -m 'a b' | tee log; $X";
    insta::assert_snapshot!(project.run(&["explain", "command", command]).transcript(), @"");
    insta::assert_snapshot!(project.run(&["explain", "command", command, "--json"]).stdout, @"");
    assert_eq!(project.run(&["explain", "command", "if then", "--json"]).json()["complete"], false);
}

#[test]
fn the_last_verdict_clause_by_clause() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.rule("no-hazard", "---\ncommand_pattern: ^hazard\nwhen: git.branch == 'main'\n---\nNo.\n");
    project.decision("ls");
    project.decision("true && danger now");
    project.decision("ls");
    let explained = project.run(&["explain", "last"]);
    let shown = explained.stdout.lines().skip(1).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(shown, @"");
    let json = project.run(&["explain", "event", "2", "--json"]).json();
    let danger = json["rules"].as_array().expect("rules").iter().find(|rule| rule["rule"] == "no-danger").expect("the rule");
    assert_eq!(danger["clauses"], json!([{ "key": "command_pattern", "truth": "true", "compared": "danger now" }]));
    insta::assert_snapshot!(project.run(&["explain", "event", "99"]).transcript(), @"");
}

#[test]
fn nothing_to_explain() {
    let project = project();
    insta::assert_snapshot!(project.run(&["explain", "last"]).transcript(), @"");
    project.decision("ls");
    insta::assert_snapshot!(project.run(&["explain", "last"]).transcript(), @"");
}
