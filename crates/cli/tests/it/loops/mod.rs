//! Runs of the loop. The agents are shell scripts that read their prompt and call `linchpin emit`.

mod gates;
mod handing_over;
mod hooks;
mod limits;
mod resuming;

use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use regex::Regex;
use testkit::{ProcessOutput, TestProject, processes};

use super::project;

/// A loop with one hat, which can hand over to itself or complete the loop.
pub(super) const ONE_HAT_LOOP: &str = "
agent: {command: [sh, agent.sh]}
hats:
  worker: {triggers: [task.start, again], publishes: [loop.complete, again]}
";

/// Shell code of an agent that hangs until its project is deleted, so that it ends even if the test fails.
const HANG: &str = "while test -e agent.sh; do sleep 0.1; done";

/// A project with a loop that a person has accepted. The loop's agent is this script, run by `sh`.
pub(super) fn with_loop(the_loop: &str, script: &str) -> TestProject {
    with_loop_in(project(), the_loop, script)
}

fn with_loop_in(project: TestProject, the_loop: &str, script: &str) -> TestProject {
    project.git(&["init", "--quiet"]);
    project.file(".linchpin/loop.yml", the_loop).file("agent.sh", script);
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "-m", "begun"]);
    let trusted = project.run(&["trust", "--yes"]);
    assert_eq!(trusted.code, Some(0), "{}", trusted.transcript());
    project
}

/// Returns the output of a run as a person reads it, without durations and the project's id.
fn run_output(project: &TestProject, reply: &ProcessOutput) -> String {
    let text = format!("{}\n---\n{}", project.redacted(reply.stdout.trim_end()), project.redacted(&reply.stderr));
    let text = Regex::new("projects/[0-9a-f]{24}").expect("a pattern").replace_all(&text, "projects/[ID]");
    format!("{}exit {}", without_durations(&text), reply.code.unwrap_or(-1))
}

/// Removes durations, which depend on the machine's load.
fn without_durations(text: &str) -> String {
    let times = Regex::new(r"(iterations?), \d+s\b| after \d+\.\d s").expect("a pattern");
    times.replace_all(text, "$1").into_owned()
}

fn spawn(project: &TestProject, arguments: &[&str]) -> Child {
    let mut command = project.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a run")
}

fn signal(child: &Child, signal: &str) {
    let status = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
}

/// Waits until a process that the test started has written a file.
fn wait_for(file: &Path) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !file.exists() {
        assert!(Instant::now() < deadline, "{} was not written in time", file.display());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn shell_syntax_in_a_command_of_a_loop_is_an_error() {
    let project = project();
    let hats =
        "hats:\n  worker: {triggers: [task.start], publishes: [loop.complete]}\ncompletion: {requires: [GATE]}\n";
    let errors = |agent: &str, gate: &str| {
        let text = format!("agent: {{command: '{agent}'}}\n{}", hats.replace("GATE", gate));
        project.file(".linchpin/loop.yml", text);
        project.run(&["validate"]).transcript()
    };
    insta::assert_snapshot!(errors("claude -p | tee log", "{shell: 'true && true'}"), @r#"
    exit 2
    --- stdout
    error: `command` has `|`, which only a shell interprets, but no shell runs `command`
     --> .linchpin/loop.yml:1:18
      |
    1 | agent: {command: 'claude -p | tee log'}
      |                  ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: to run it in a shell, write `[sh, -c, "…"]`; to pass it as an argument, quote it or write the words as a list

    2 rules in force; 1 error.
    --- stderr
    "#);
    insta::assert_snapshot!(errors("claude -p", "{command: 'true && false'}"), @r#"
    exit 2
    --- stdout
    error: `command` has `&&`, which only a shell interprets, but no shell runs `command`
     --> .linchpin/loop.yml:4:35
      |
    4 | completion: {requires: [{command: 'true && false'}]}
      |                                   ^^^^^^^^^^^^^^^
      |
      = help: to run it in a shell, write `shell: "true && false"` instead of `command`; to pass it as an argument, quote it or write the words as a list

    2 rules in force; 1 error.
    --- stderr
    "#);
    insta::assert_snapshot!(errors("claude -p", "{command: 'CI=1 make test'}"), @r#"
    exit 2
    --- stdout
    error: `command` starts with `CI=1`, but no shell runs it: `CI=1` would be the name of the program
     --> .linchpin/loop.yml:4:35
      |
    4 | completion: {requires: [{command: 'CI=1 make test'}]}
      |                                   ^^^^^^^^^^^^^^^^
      |
      = help: to run it in a shell, write `shell: "CI=1 make test"` instead of `command`

    2 rules in force; 1 error.
    --- stderr
    "#);
    insta::assert_snapshot!(errors("~/bin/agent -p", "{command: '( make )'}"), @r#"
    exit 2
    --- stdout
    error: `command` has `~`, which only a shell interprets, but no shell runs `command`
     --> .linchpin/loop.yml:1:18
      |
    1 | agent: {command: '~/bin/agent -p'}
      |                  ^^^^^^^^^^^^^^^^
      |
      = help: to run it in a shell, write `[sh, -c, "…"]`; to pass it as an argument, quote it or write the words as a list

    error: `command` has `(`, which only a shell interprets, but no shell runs `command`
     --> .linchpin/loop.yml:4:35
      |
    4 | completion: {requires: [{command: '( make )'}]}
      |                                   ^^^^^^^^^^
      |
      = help: to run it in a shell, write `shell: "( make )"` instead of `command`; to pass it as an argument, quote it or write the words as a list

    2 rules in force; 2 errors.
    --- stderr
    "#);
    for gate in ["! make", "~/check", "make ~/x"] {
        assert!(errors("claude -p", &format!("{{command: '{gate}'}}")).contains("no shell runs"), "{gate}");
    }
}
