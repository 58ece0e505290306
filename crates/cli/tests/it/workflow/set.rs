//! The command `linchpin set`.

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::{ProcessOutput, TestProject};

use crate::project;

const WORKFLOW: &str = "start_node: code\nvariables: {reviewed: false}\nnodes:\n  code:\n    prompt: Code.\n    exit_conditions: [{type: \
                    variable_set, variable: reviewed}]\n    transitions: [{when: code_complete, to: done}]\n";

/// A project with a session and this configuration.
fn project_with_session(config: &str) -> TestProject {
    let project = project();
    project.config(config);
    project.hook("claude", &project.event_payload("SessionStart", &json!({"source": "startup"})));
    project
}

fn run_as_agent(project: &TestProject, arguments: &[&str]) -> ProcessOutput {
    let mut command = project.command(arguments);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "session-1");
    project.run_with_stdin(command, b"")
}

fn session_variable(project: &TestProject, name: &str) -> Value {
    project.run(&["status", "--json"]).json()["session"]["variables"][name].clone()
}

#[test]
fn setting_a_variable_opens_a_gate() {
    let project = project();
    project.file(".linchpin/workflows/work.yml", WORKFLOW);
    assert_eq!(project.run(&["start", "work"]).code, Some(0));
    assert_eq!(project.run(&["next"]).code, Some(1));
    assert_snapshot!(project.run(&["set", "reviewed", "true"]).stdout, @"Set `reviewed` to true in workflow `work`.");
    assert_eq!(project.run(&["next"]).code, Some(0));
    let log = project.run(&["log"]).stdout;
    assert!(log.contains("person set: workflow `work`, variable `reviewed` = true"), "{log}");
}

#[test]
fn a_session_variable_gets_the_type_of_its_text() {
    let project = project_with_session("variables: {depth: null}\n");
    for (written, expected) in [
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
        let reply = project.run(&["set", "depth", written, "--json"]);
        assert_eq!(
            reply.json(),
            json!({"agent": "claude", "session": "session-1", "set": "depth", "value": expected}),
            "{written}"
        );
        assert_eq!(session_variable(&project, "depth"), expected, "{written}");
    }
    assert_snapshot!(project.run(&["set", "depth", "[1, 2]"]).stderr, @"
    error: `[1, 2]` is a list or a mapping, but a variable can only be set to a single value
    help: give `true`, `false`, `null`, a number or a string; quotes make any value a string
    ");
}

#[test]
fn a_variable_keeps_its_declared_type() {
    let project = project_with_session("variables: {reviewed: false, depth: 3, seen: [], notes: {}, ticket: ''}\n");
    assert_snapshot!(project.run(&["set", "reviewed", "no"]).transcript(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: `reviewed` is declared as `true` or `false`, and the string "no" is not; nothing was set
    help: give `true` or `false`: `linchpin set reviewed true`
    "#);
    assert_snapshot!(project.run(&["set", "depth", "many"]).stderr, @r#"
    error: `depth` is declared as a number, and the string "many" is not; nothing was set
    help: give a number: `linchpin set depth 3`
    "#);
    assert_snapshot!(project.run(&["set", "seen", "a"]).stderr, @r#"
    error: `seen` is declared as a list, and the string "a" is not; nothing was set
    help: `linchpin set` takes a single value; an observer can change a list or a mapping
    "#);
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
    assert_eq!(
        [session_variable(&project, "reviewed"), session_variable(&project, "depth")],
        [Value::Null, Value::Null]
    );
    for (name, written) in [("reviewed", "true"), ("depth", "1.5"), ("ticket", "17"), ("ticket", "null")] {
        assert_eq!(project.run(&["set", name, written]).code, Some(0), "{name} {written}");
    }
}

#[test]
fn a_text_does_not_open_a_gate_that_requires_true() {
    let project = project();
    project.file(".linchpin/workflows/work.yml", WORKFLOW);
    assert_eq!(project.run(&["start", "work"]).code, Some(0));
    assert_eq!(project.run(&["set", "reviewed", "no"]).code, Some(2));
    assert_eq!(project.run(&["next"]).code, Some(1));
}

#[test]
fn rules_see_the_value_at_the_next_event() {
    let project = project_with_session(
        "variables: {hotfix: false}\nrules: [{command_pattern: '^danger', when: not hotfix, reason: No.}]\n",
    );
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.run(&["set", "hotfix", "true", "--session", "session-1"]).code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
    assert_snapshot!(project.run(&["set", "hotfix", "true", "--session", "other"]).stderr, @"
    error: the journal has no session `other`
    help: `linchpin log --json` shows the session of each event
    ");
}

#[test]
fn invalid_names_are_errors() {
    let project = project_with_session("variables: {hotfix: false, depth: 1}\n");
    assert_snapshot!(project.run(&["set", "_position", "1"]).stderr, @"error: invalid variable name `_position`: names that start with `_` are reserved");
    assert_snapshot!(project.run(&["set", "hotfx", "1"]).stderr, @"
    error: variable `hotfx` is not declared
    help: did you mean `hotfix`?
    ");
    assert_snapshot!(project.run(&["set", "elsewhere", "1"]).stderr, @"
    error: variable `elsewhere` is not declared
    help: the declared variables are depth, hotfix; declare it in `.linchpin/config.yml`: `variables: {elsewhere: false}`
    ");
    assert_eq!(project.run(&["set", "elsewhere", "1", "--json"]).json()["error"]["kind"], "NotFound");
    project.config("");
    assert_snapshot!(project.run(&["set", "elsewhere", "1"]).stderr, @"
    error: variable `elsewhere` is not declared
    help: none is declared; declare it in `.linchpin/config.yml`: `variables: {elsewhere: false}`
    ");
}

#[test]
fn set_without_a_session_is_an_error() {
    let project = project();
    project.config("variables: {hotfix: false}\n");
    assert_snapshot!(project.run(&["set", "hotfix", "true"]).stderr, @"
    error: the journal has no session yet
    help: an agent's first event starts one
    ");
}

#[test]
fn an_agent_needs_permission_to_set_variables() {
    let project = project_with_session("variables: {hotfix: false}\n");
    for command in ["linchpin set hotfix true", "bash -c 'linchpin set hotfix true'"] {
        assert_eq!(project.decision(command), "deny", "{command}");
    }
    let refused = run_as_agent(&project, &["set", "hotfix", "true"]);
    assert_snapshot!(refused.transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: agents may not run `set` here
    help: a person can do it; `agent_may: [set, …]` in config.yml lets agents do it too, in a repository's once you run `linchpin trust`
    ");
    project.config("variables: {hotfix: false}\nagent_may: [next, set]\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(project.decision("linchpin set hotfix true"), "allow");
    assert_eq!(run_as_agent(&project, &["set", "hotfix", "true"]).code, Some(0));
    assert_eq!(session_variable(&project, "hotfix"), true);
    let log = project.run(&["log"]).stdout;
    assert!(log.contains("variable `hotfix` = true"), "{log}");
}

#[test]
fn an_agent_cannot_set_variables_of_another_session() {
    let project = project_with_session("variables: {hotfix: false}\nagent_may: [set]\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project.hook(
        "claude",
        &project.event_payload("SessionStart", &json!({"source": "startup", "session_id": "session-2"})),
    );
    assert_snapshot!(run_as_agent(&project, &["set", "hotfix", "true", "--session", "session-2"]).stderr, @"
    error: this command runs in another session than `session-2`
    help: leave out `--session`: the variables of your own session are used
    ");
    assert_eq!(run_as_agent(&project, &["set", "hotfix", "true", "--session", "session-1"]).code, Some(0));
}

#[test]
fn a_project_cannot_let_agents_set_user_variables() {
    let project = project_with_session("agent_may: [set]\n");
    let users = project.user_policy().join("config.yml");
    std::fs::create_dir_all(project.user_policy()).expect("a directory");
    std::fs::write(&users, "variables: {strict: true}\n").expect("a file");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_snapshot!(run_as_agent(&project, &["set", "strict", "false"]).stderr, @"
    error: variable `strict` belongs to the user's own policy, which does not let agents run `set`
    help: a person can do it; `agent_may: [set, …]` in the user's own config.yml lets agents do it too
    ");
    assert_eq!(project.run(&["set", "strict", "false"]).code, Some(0));
    std::fs::write(&users, "variables: {strict: true}\nagent_may: [set]\n").expect("a file");
    assert_eq!(run_as_agent(&project, &["set", "strict", "false"]).code, Some(0));
}

#[test]
fn an_agent_of_an_unknown_session_cannot_set_session_variables() {
    let project = project_with_session("variables: {hotfix: false}\nagent_may: [set]\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    let mut command = project.command(&["set", "hotfix", "true"]);
    command.env("AI_AGENT", "x");
    assert_snapshot!(project.run_with_stdin(command, b"").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hotfix` is a variable of a session, and the session that runs this command is unknown
    help: add your own session as `--session ID`, or ask a person to run the command
    ");
    assert_eq!(session_variable(&project, "hotfix"), json!(null));
    // Only one call is open, so it identifies the agent's session.
    let mut agent = project.agent();
    agent.before("linchpin set hotfix true");
    let mut command = project.command(&["set", "hotfix", "true"]);
    command.env("AI_AGENT", "x");
    assert_eq!(project.run_with_stdin(command, b"").code, Some(0));
    assert_eq!(session_variable(&project, "hotfix"), true);
}
