//! The order in which gates are evaluated: first the cheap ones, which start no process and send no request.

use testkit::{ProcessOutput, TestProject};

use super::{counting_gate, repository, run_count, with_gates, write_workflow};

#[test]
fn a_closed_cheap_gate_prevents_commands() {
    for cheap in ["variables.ready", "{approval: Really?}"] {
        let project = with_gates(&format!("[{}, {cheap}]", counting_gate("count", "true")));
        assert_eq!(project.run(&["next"]).code, Some(1));
        assert_eq!(run_count("count", &project), 0);
    }
}

#[test]
fn no_command_runs_without_a_possible_transition() {
    let project = with_gates(&format!("[{}]", counting_gate("count", "true")));
    assert_eq!(project.run(&["next", "rest_complete"]).code, Some(1));
    assert_eq!(run_count("count", &project), 0);
}

#[test]
fn no_command_runs_after_the_first_failure() {
    let project = with_gates(&format!("[{}, {}]", counting_gate("first", "false"), counting_gate("second", "true")));
    assert_eq!(project.run(&["next"]).code, Some(1));
    assert_eq!((run_count("first", &project), run_count("second", &project)), (1, 0));
}

#[test]
fn all_closed_cheap_gates_are_reported_at_once() {
    let project = with_gates("[variables.ready, {approval: 'Ship it?'}]");
    insta::assert_snapshot!(project.run(&["next"]).transcript());
}

fn with_session_variable_gate() -> TestProject {
    let project = repository();
    project.config(
        "variables: {seen: false}\nobservers:\n  - {name: looks, on: after_tool, match: {command_pattern: '^ls'}, set: {seen: true}}\n",
    );
    write_workflow(&project, "[seen]", "");
    project.run(&["trust", "--yes"]);
    project.run(&["start", "w"]);
    project
}

/// Runs `linchpin next` in the shell of an agent that does not set its session id.
fn next_by_an_agent(arguments: &[&str], project: &TestProject) -> ProcessOutput {
    let mut command = project.command(&[&["next"], arguments].concat());
    command.env("CURSOR_AGENT", "1");
    project.run_with_stdin(command, b"")
}

const UNKNOWN_SESSION: &str =
    "Linchpin can't tell which session runs this command. Name it: `linchpin next --session ID`";

#[test]
fn with_two_possible_sessions_none_is_guessed() {
    let project = with_session_variable_gate();
    let (mut first, mut second) = (project.agent_session("session-1"), project.agent_session("session-2"));
    first.run("ls");
    first.before("linchpin next");
    // `linchpin next` in a person's terminal does not belong to the open call of `session-1`.
    let refused = project.run(&["next"]);
    assert!(refused.stdout.contains(UNKNOWN_SESSION), "{}", refused.transcript());
    // The open call of `session-2` could be a script that runs `linchpin next`.
    second.before("sh script.sh");
    let refused = next_by_an_agent(&[], &project);
    assert!(refused.stdout.contains(UNKNOWN_SESSION), "{}", refused.transcript());
    second.after("sh script.sh");
    second.before("linchpin next");
    let refused = next_by_an_agent(&[], &project);
    assert!(refused.stdout.contains(UNKNOWN_SESSION), "{}", refused.transcript());
    second.after("linchpin next");
    // Only the call of `session-1` is still open.
    insta::assert_snapshot!(next_by_an_agent(&[], &project).transcript(), @"
    exit 0
    --- stdout
    Session variables were read from session `session-1` (claude).
    Rest.
    --- stderr
    now at `rest` of `w`
    ");
}

#[test]
fn an_agent_can_name_the_session_of_its_call() {
    let project = with_session_variable_gate();
    let (mut first, mut second) = (project.agent_session("session-1"), project.agent_session("session-2"));
    first.run("ls");
    first.before("linchpin next --session session-1");
    second.before("linchpin next --session session-2");
    let of_third = next_by_an_agent(&["--session", "session-3"], &project);
    assert_eq!(of_third.code, Some(2), "{}", of_third.transcript());
    let moved = next_by_an_agent(&["--session", "session-1"], &project);
    assert!(moved.stdout.ends_with("Rest.\n"), "{}", moved.transcript());
}

#[test]
fn status_does_not_guess_the_session_of_a_variable() {
    let project = with_session_variable_gate();
    let mut first = project.agent_session("session-1");
    first.run("ls");
    let state = |reply: ProcessOutput| reply.json()["workflow"]["gates"][0]["state"].clone();
    assert_eq!(state(project.run(&["status", "--json"])), "depends on the session");
    assert_eq!(state(project.run(&["status", "--json", "--session", "session-1"])), "met");
    assert_eq!(state(first.linchpin(&["status", "--json"])), "met");
}

#[test]
fn a_session_variable_is_read_from_the_session_that_moves() {
    let project = with_session_variable_gate();
    let (mut first, second) = (project.agent_session("session-1"), project.agent_session("session-2"));
    first.run("ls");
    insta::assert_snapshot!(project.run(&["next"]).transcript(), @"
    exit 1
    --- stdout
    Still at `work`: its gates are not met.

    - work/1: `seen` cannot be evaluated: variables of a session are needed, and Linchpin can't tell which session runs this command. Name it: `linchpin next --session ID`
    --- stderr
    ");
    insta::assert_snapshot!(second.linchpin(&["next"]).transcript(), @"
    exit 1
    --- stdout
    Session variables were read from session `session-2` (claude).
    Still at `work`: its gates are not met.

    - work/1: `seen` is not true
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["next", "--session", "nobody"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the journal has no session `nobody`
    help: `linchpin log --json` shows the session of each event
    ");
    insta::assert_snapshot!(second.linchpin(&["next", "--session", "session-1"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: this command runs in another session than `session-1`
    help: leave out `--session`: the variables of your own session are used
    ");
    // An agent whose own session is unknown cannot name a session with `--session`.
    let mut command = project.command(&["next", "--session", "session-1"]);
    command.env("CURSOR_AGENT", "1");
    let refused = project.run_with_stdin(command, b"");
    assert!(refused.stderr.contains("another session than `session-1`"), "{}", refused.transcript());
    insta::assert_snapshot!(project.run(&["next", "--session", "session-1"]).stdout, @"
    Session variables were read from session `session-1` (claude).
    Rest.
    ");
}

#[test]
fn a_transition_on_a_variable_of_an_unknown_session_is_undecided() {
    let project = repository();
    project.config("variables: {seen: false}\n");
    project.file(
        ".linchpin/workflows/w.yml",
        "start_node: work\nnodes:\n  work: {prompt: Work., transitions: [{when: not seen, to: done}]}\n",
    );
    project.run(&["start", "w"]);
    insta::assert_snapshot!(project.run(&["next"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `not seen`, the condition of a transition from `work`, cannot be evaluated: variables of a session are needed, and Linchpin can't tell which session runs this command. Name it: `linchpin next --session ID`
    ");
    assert_eq!(project.agent().linchpin(&["next"]).code, Some(0));
}

#[test]
fn a_file_rule_gate_stays_closed_if_the_default_branch_is_unknown() {
    let project = repository();
    project.rule("docs", "---\ntrigger: 'src/**'\nsafety: README.md\nattribute: tree\n---\nChange the README.\n");
    project.git(&["branch", "-m", "main", "trunk"]);
    project.git(&["checkout", "-q", "-b", "feat"]);
    project.file("src/b", "b\n");
    project.git(&["add", "--all"]);
    project.git(&["commit", "-q", "-m", "second"]);
    write_workflow(&project, "[{file_rules: [docs]}]", "");
    project.run(&["start", "w"]);
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(1), "{}", reply.transcript());
    assert!(reply.stdout.contains("`docs` cannot be judged, because git cannot list what changed"), "{}", reply.stdout);
    project.config("default_branch: trunk\n");
    let reply = project.run(&["next"]);
    assert!(reply.stdout.contains("Change the README."), "{}", reply.transcript());
}
