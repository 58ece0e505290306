//! `linchpin set`.

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::{Reply, Scratch};

use crate::project;

const FLOW: &str = "start_node: code\nvariables: {reviewed: false}\nnodes:\n  code:\n    prompt: Code.\n    exit_conditions: [{type: \
                    variable_set, variable: reviewed}]\n    transitions: [{when: code_complete, to: done}]\n";

/// A project with a session, and these keys of its configuration.
fn heard(config: &str) -> Scratch {
    let project = project();
    project.config(config);
    project.hook("claude", &project.event("SessionStart", &json!({"source": "startup"})));
    project
}

fn by_agent(project: &Scratch, words: &[&str]) -> Reply {
    let mut command = project.command(words);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "session-1");
    project.feed(command, b"")
}

fn value(project: &Scratch, name: &str) -> Value {
    project.run(&["status", "--json"]).json()["session"]["variables"][name].clone()
}

#[test]
fn a_gate_that_asks_for_a_variable_can_be_met() {
    let project = project();
    project.file(".linchpin/workflows/work.yml", FLOW);
    assert_eq!(project.run(&["start", "work"]).code, Some(0));
    assert_eq!(project.run(&["next"]).code, Some(1));
    assert_snapshot!(project.run(&["set", "reviewed", "true"]).stdout, @"Set `reviewed` to true in workflow `work`.");
    assert_eq!(project.run(&["next"]).code, Some(0));
    let log = project.run(&["log"]).stdout;
    assert!(log.contains("work: reviewed = true, by the person"), "{log}");
}

#[test]
fn a_variable_of_the_session_has_the_type_that_it_is_written_with() {
    let project = heard("variables: {depth: null}\n");
    for (written, meant) in [
        ("true", json!(true)),
        ("3", json!(3)),
        ("-1", json!(-1)),
        ("1.5", json!(1.5)),
        ("null", Value::Null),
        ("on", json!("on")),
        ("two words # and more", json!("two words # and more")),
        ("'3'", json!("3")),
        ("key: value", json!("key: value")),
        ("", json!("")),
    ] {
        let told = project.run(&["set", "depth", written, "--json"]);
        assert_eq!(
            told.json(),
            json!({"agent": "claude", "session": "session-1", "set": "depth", "value": meant}),
            "{written}"
        );
        assert_eq!(value(&project, "depth"), meant, "{written}");
    }
    assert_snapshot!(project.run(&["set", "depth", "[1, 2]"]).stderr, @"
    error: `[1, 2]` is a list or a mapping, and a variable is set to one value
    help: give `true`, `false`, `null`, a number or a text; quotes make anything a text
    ");
}

#[test]
fn a_variable_keeps_the_kind_that_it_is_declared_with() {
    let project = heard("variables: {reviewed: false, depth: 3, seen: [], notes: {}, ticket: ''}\n");
    assert_snapshot!(project.run(&["set", "reviewed", "no"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `reviewed` is declared as `true` or `false`, and the text \"no\" is not; nothing was set
    help: give `true` or `false`: `linchpin set reviewed true`
    ");
    assert_snapshot!(project.run(&["set", "depth", "many"]).stderr, @"
    error: `depth` is declared as a number, and the text \"many\" is not; nothing was set
    help: give a number: `linchpin set depth 3`
    ");
    assert_snapshot!(project.run(&["set", "seen", "a"]).stderr, @"
    error: `seen` is declared as a list, and the text \"a\" is not; nothing was set
    help: `linchpin set` gives one value; an observer can change a list or a mapping
    ");
    for (name, written) in [
        ("reviewed", "1"),
        ("reviewed", "'true'"),
        ("reviewed", "null"),
        ("depth", "'3'"),
        ("depth", "true"),
        ("notes", "3"),
    ] {
        assert_eq!(project.run(&["set", name, written]).code, Some(2), "{name} {written}");
    }
    assert_eq!([value(&project, "reviewed"), value(&project, "depth")], [Value::Null, Value::Null]);
    for (name, written) in [("reviewed", "true"), ("depth", "1.5"), ("ticket", "17"), ("ticket", "null")] {
        assert_eq!(project.run(&["set", name, written]).code, Some(0), "{name} {written}");
    }
}

#[test]
fn a_text_does_not_open_a_gate_that_waits_for_true() {
    let project = project();
    project.file(".linchpin/workflows/work.yml", FLOW);
    assert_eq!(project.run(&["start", "work"]).code, Some(0));
    assert_eq!(project.run(&["set", "reviewed", "no"]).code, Some(2));
    assert_eq!(project.run(&["next"]).code, Some(1));
}

#[test]
fn rules_see_the_value_at_the_next_event() {
    let project =
        heard("variables: {hotfix: false}\nrules: [{command_pattern: '^danger', when: not hotfix, reason: No.}]\n");
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.run(&["set", "hotfix", "true", "--session", "session-1"]).code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
    assert_snapshot!(project.run(&["set", "hotfix", "true", "--session", "other"]).stderr, @"
    error: the journal has no session `other`
    help: `linchpin log --json` names the sessions
    ");
}

#[test]
fn names_that_cannot_be_set() {
    let project = heard("variables: {hotfix: false, depth: 1}\n");
    assert_snapshot!(project.run(&["set", "_position", "1"]).stderr, @"error: `_position` cannot be a variable: names that begin with `_` are Linchpin's own");
    assert_snapshot!(project.run(&["set", "hotfx", "1"]).stderr, @"
    error: no variable `hotfx` is declared
    help: did you mean `hotfix`?
    ");
    assert_snapshot!(project.run(&["set", "elsewhere", "1"]).stderr, @"
    error: no variable `elsewhere` is declared
    help: these are declared: depth, hotfix; declare it in `.linchpin/config.yml`: `variables: {elsewhere: false}`
    ");
    assert_eq!(project.run(&["set", "elsewhere", "1", "--json"]).json()["error"]["kind"], "NotFound");
    project.config("");
    assert_snapshot!(project.run(&["set", "elsewhere", "1"]).stderr, @"
    error: no variable `elsewhere` is declared
    help: none is declared; declare it in `.linchpin/config.yml`: `variables: {elsewhere: false}`
    ");
}

#[test]
fn without_a_session_there_is_nothing_to_set() {
    let project = project();
    project.config("variables: {hotfix: false}\n");
    assert_snapshot!(project.run(&["set", "hotfix", "true"]).stderr, @"
    error: no session was heard of yet
    help: it begins with an agent's first event
    ");
}

#[test]
fn an_agent_sets_variables_only_where_it_may() {
    let project = heard("variables: {hotfix: false}\n");
    for way in ["linchpin set hotfix true", "bash -c 'linchpin set hotfix true'"] {
        assert_eq!(project.decision(way), "deny", "{way}");
    }
    let refused = by_agent(&project, &["set", "hotfix", "true"]);
    assert_snapshot!(refused.transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `set` is not for agents here
    help: a person can do it; `agent_may: [set, …]` in config.yml lets agents do it too, in a repository's once you run `linchpin trust`
    ");
    project.config("variables: {hotfix: false}\nagent_may: [next, set]\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(project.decision("linchpin set hotfix true"), "allow");
    assert_eq!(by_agent(&project, &["set", "hotfix", "true"]).code, Some(0));
    assert_eq!(value(&project, "hotfix"), true);
    let log = project.run(&["log"]).stdout;
    assert!(log.contains("hotfix = true, by the agent"), "{log}");
}

#[test]
fn an_agent_sets_no_variables_of_another_session() {
    let project = heard("variables: {hotfix: false}\nagent_may: [set]\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project.hook("claude", &project.event("SessionStart", &json!({"source": "startup", "session_id": "session-2"})));
    assert_snapshot!(by_agent(&project, &["set", "hotfix", "true", "--session", "session-2"]).stderr, @"
    error: this runs in another session than `session-2`
    help: leave `--session` out: the variables of your own session count
    ");
    assert_eq!(by_agent(&project, &["set", "hotfix", "true", "--session", "session-1"]).code, Some(0));
}

#[test]
fn a_project_does_not_let_agents_set_the_users_own_variables() {
    let project = heard("agent_may: [set]\n");
    let users = project.user_policy().join("config.yml");
    std::fs::create_dir_all(project.user_policy()).expect("a folder");
    std::fs::write(&users, "variables: {strict: true}\n").expect("a file");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_snapshot!(by_agent(&project, &["set", "strict", "false"]).stderr, @"
    error: variable `strict` is the user's own, and the user does not let agents run `set`
    help: a person can do it; `agent_may: [set, …]` in the user's own config.yml lets agents do it too
    ");
    assert_eq!(project.run(&["set", "strict", "false"]).code, Some(0));
    std::fs::write(&users, "variables: {strict: true}\nagent_may: [set]\n").expect("a file");
    assert_eq!(by_agent(&project, &["set", "strict", "false"]).code, Some(0));
}

#[test]
fn an_agent_whose_session_is_not_known_sets_no_session_variable() {
    let project = heard("variables: {hotfix: false}\nagent_may: [set]\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    let mut command = project.command(&["set", "hotfix", "true"]);
    command.env("AI_AGENT", "x");
    assert_snapshot!(project.feed(command, b"").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hotfix` is a variable of a session, and which session runs this command is not known
    help: name your own session in the call: `--session ID`, or ask a person to run it
    ");
    assert_eq!(value(&project, "hotfix"), json!(null));
    // The only unfinished call is its own.
    let mut agent = project.agent();
    agent.before("linchpin set hotfix true");
    let mut command = project.command(&["set", "hotfix", "true"]);
    command.env("AI_AGENT", "x");
    assert_eq!(project.feed(command, b"").code, Some(0));
    assert_eq!(value(&project, "hotfix"), true);
}
