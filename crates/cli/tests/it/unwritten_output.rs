//! A command fails if its output cannot be written, even if it was successful otherwise. A closed pipe is not an error.

use std::fs::OpenOptions;
use std::process::Stdio;

use regex::Regex;
use testkit::{ProcessOutput, TestProject};

use super::{NO_DANGER, project_without_policy};
use crate::loops::{ONE_HAT_LOOP, with_loop};

/// Commands that print a result. They run in this order, so that each of them has a result to print.
const PRINTING: &[&[&str]] = &[
    &["init", "--no-hooks"],
    &["install", "claude"],
    &["uninstall", "claude"],
    &["doctor"],
    &["trust"],
    &["demo"],
    &["completions", "bash"],
    &["check"],
    &["check", "--format", "sarif"],
    &["check", "--format", "github"],
    &["ack", "docs", "--reason", "seen"],
    &["ack", "docs", "--reason", "seen", "--trailer"],
    &["allow", "1", "--yes"],
    &["pause", "10m", "--reason", "moving"],
    &["resume"],
    &["validate"],
    &["test"],
    &["explain", "last"],
    &["explain", "event", "1"],
    &["explain", "command", "ls"],
    &["explain", "pattern", "*.rs", "a.rs"],
    &["explain", "when", "1 == 1"],
    &["try", "danger"],
    &["replay"],
    &["rules", "list"],
    &["rules", "show", "no-danger"],
    &["rules", "which", "no-danger"],
    &["rules", "export", "no-danger"],
    &["workflows"],
    &["hats", "list"],
    &["log"],
    &["status"],
    &["status", "--metrics"],
    &["task", "add", "Mend it"],
    &["task", "list"],
    &["memory", "add", "It was wet."],
    &["memory", "list"],
    &["run", "-p", "Do it", "--max-iterations", "1"],
    &["runs"],
    &["stop", "--session", "session-1"],
    &["start", "execution"],
    &["repeat"],
    &["next"],
    &["continue"],
    &["prev"],
    &["restart"],
    &["approve"],
    &["abort"],
    &["--help"],
    &["--version"],
    &["hook", "--help"],
    &["log", "--help"],
];

/// Commands that are not tested here, because they need more preparation than the others. They print in the same way.
const NOT_TRIED: &[&str] = &["emit", "progress", "set"];

fn project() -> TestProject {
    let project = with_loop(ONE_HAT_LOOP, "\"$LINCHPIN_BIN\" emit loop.complete ok\n");
    project.rule("no-danger", NO_DANGER);
    project.rule("docs", "---\ntrigger: 'src/**'\nsafety: README.md\n---\nLook at the README.\n");
    project.file("src/a.rs", "changed");
    project.decision("danger");
    project
}

fn with_stdout(project: &TestProject, arguments: &[&str], stdout: Stdio) -> ProcessOutput {
    let mut command = project.command(arguments);
    let output = command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).spawn().expect("the program runs");
    let output = output.wait_with_output().expect("an end");
    ProcessOutput {
        stdout: String::new(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    }
}

fn full_device() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").expect("a device that is always full").into()
}

#[test]
#[cfg(target_os = "linux")]
fn every_command_reports_unwritable_output() {
    let project = project();
    for arguments in PRINTING {
        for json in [false, true] {
            let json: &[&str] = if json && !arguments.contains(&"--help") { &["--json"] } else { &[] };
            let arguments = [*arguments, json].concat();
            let reply = with_stdout(&project, &arguments, full_device());
            // A command that only prints an error on stderr has no result to print.
            let is_refused = reply.stderr.starts_with("error: ") && !reply.stderr.contains("stdout");
            assert!(!is_refused || json.is_empty(), "{arguments:?}: {}", reply.stderr);
            if !is_refused {
                assert!(
                    reply.stderr.contains("the output cannot be written to stdout"),
                    "{arguments:?}: {}",
                    reply.stderr
                );
            }
            assert_eq!(reply.code, Some(2), "{arguments:?}: {}", reply.stderr);
        }
    }
}

#[test]
fn a_closed_pipe_ends_a_command_without_an_error() {
    let project = project();
    for arguments in [&["rules", "list"][..], &["log"], &["validate"], &["check", "--format", "sarif"], &["--help"]] {
        let expected = project.run(arguments).code;
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let reply = with_stdout(&project, arguments, writer.into());
        assert_eq!((reply.code, reply.stderr.as_str()), (expected, ""), "{arguments:?}");
    }
}

/// Otherwise `linchpin log --follow | head` would go on after `head` has ended.
#[test]
fn log_follow_ends_when_its_pipe_is_closed() {
    let project = project();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let reply = with_stdout(&project, &["log", "--follow"], writer.into());
    assert_eq!((reply.code, reply.stderr.as_str()), (Some(0), ""));
}

#[test]
fn every_command_is_tested_with_unwritable_output() {
    let help = project_without_policy().run(&["--help"]).stdout;
    let names = Regex::new(r"(?m)^  ([a-z]+)  ").expect("a pattern");
    let commands: Vec<&str> = names.captures_iter(&help).filter_map(|found| Some(found.get(1)?.as_str())).collect();
    assert!(commands.len() > 30, "{commands:?}");
    for command in commands {
        let is_known = PRINTING.iter().any(|arguments| arguments[0] == command) || NOT_TRIED.contains(&command);
        assert!(is_known, "`{command}` is not tried with an output that cannot be written");
    }
}

/// Runs `linchpin` with these arguments and this redirection in a shell.
#[cfg(unix)]
fn redirected(project: &TestProject, arguments: &[&str], redirection: &str, input: &str) -> ProcessOutput {
    let command = project.command(arguments);
    let mut shell = std::process::Command::new("/bin/sh");
    shell.arg("-c").arg(format!("exec \"$0\" \"$@\" {redirection}")).arg(command.get_program()).args(arguments);
    shell.current_dir(project.root()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    project.run_with_stdin(shell, input.as_bytes())
}

#[test]
#[cfg(unix)]
fn a_refusal_that_cannot_be_printed_sets_the_exit_code() {
    let project = project();
    let hook = |command: &str, redirection: &str| {
        redirected(&project, &["hook", "claude"], redirection, &project.bash_payload(command).to_string()).code
    };
    for redirection in [">&-", "1</dev/null", "1</dev/zero", "1<>/dev/null"] {
        assert_eq!(hook("danger", redirection), Some(2), "{redirection}");
        assert_eq!(hook("ls", redirection), Some(0), "{redirection}");
    }
    // With `>/dev/null`, the caller discards the answer on purpose, so that is not an error.
    assert_eq!(hook("danger", ">/dev/null"), Some(0));
}

#[test]
#[cfg(unix)]
fn a_read_only_stdout_is_an_error() {
    let project = project();
    for arguments in [&["check"][..], &["rules", "export", "no-danger"], &["validate"], &["log"]] {
        let reply = redirected(&project, arguments, "1</dev/null", "");
        assert_eq!(reply.code, Some(2), "{arguments:?}");
        assert!(
            reply.stderr.starts_with("error: the output cannot be written to stdout: it is not open for writing\n"),
            "{}",
            reply.stderr
        );
    }
}

#[test]
#[cfg(unix)]
fn a_closed_stdout_is_an_error() {
    let project = project();
    project.file("unchanged", "");
    for arguments in [
        &["rules", "export", "no-danger"][..],
        &["log"],
        &["log", "--json"],
        &["status", "--json"],
        &["validate", "--json"],
        &["check", "--changed-from", "unchanged", "--format", "json"],
        &["check", "--changed-from", "unchanged", "--format", "sarif"],
    ] {
        let reply = redirected(&project, arguments, ">&-", "");
        assert_eq!(reply.code, Some(2), "{arguments:?}");
        assert!(reply.stderr.starts_with("error: the output cannot be written to stdout"), "{}", reply.stderr);
        assert_eq!(redirected(&project, arguments, ">/dev/null", "").code, Some(0), "{arguments:?}");
    }
    // A program that needs only the exit code of a command gives it a stdout of `/dev/null`, open for reading and
    // writing. So that is not an error.
    assert_eq!(redirected(&project, &["validate"], "1<>/dev/null", "").code, Some(0));
}
