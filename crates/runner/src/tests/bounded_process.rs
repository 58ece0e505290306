use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::scratch_project::ScratchProject;
use crate::{OUTPUT_LIMIT, ProcessNote, ProcessOutcome, SandboxMode};

/// A timeout for processes that are expected to exceed it.
const SHORT: Duration = Duration::from_millis(200);

#[test]
fn exit_code_and_output_are_returned() {
    let outcome = ScratchProject::new().script("echo one; echo two >&2; exit 3");
    let expected = ProcessOutcome {
        exit_code: Some(3),
        timed_out: false,
        stdout: "one\n".to_owned(),
        stderr: "two\n".to_owned(),
        notes: Vec::new(),
    };
    assert_eq!(outcome, expected);
    assert!(!outcome.is_success() && ScratchProject::new().script(":").is_success());
}

#[test]
fn arguments_are_not_interpreted_by_a_shell() {
    let project = ScratchProject::new();
    let argv = ["printf", "[%s]", "a b", "$HOME", "*", "; echo x", "-n", "", "--"];
    let expected = "[a b][$HOME][*][; echo x][-n][][--]";
    assert_eq!(project.run(&argv, SandboxMode::Off).unwrap().stdout, expected);
    if let Some(outcome) = project.confined(&argv) {
        assert_eq!(outcome.unwrap().stdout, expected);
    }
}

#[test]
fn a_process_runs_in_its_working_directory_with_empty_stdin() {
    let project = ScratchProject::new();
    let outcome = project.script("pwd -P; cat");
    let directory = project.path("repo").canonicalize().unwrap();
    assert_eq!((outcome.exit_code, PathBuf::from(outcome.stdout.trim_end())), (Some(0), directory));
}

#[test]
fn programs_are_found_in_path_working_directory_and_home() {
    let mut project = ScratchProject::new();
    for link in ["repo/tool", "home/tool", "outside/found"] {
        symlink("/bin/sh", project.path(link)).unwrap();
    }
    project.set("PATH", project.path("outside"));
    for program in ["./tool", "~/tool", "found", "/bin/sh"] {
        let argv = [program, "-c", "echo \"$0\"", "arguments"];
        assert_eq!(project.run(&argv, SandboxMode::Off).unwrap().stdout, "arguments\n", "{program}");
        if let Some(outcome) = project.confined(&argv) {
            assert_eq!(outcome.unwrap().stdout, "arguments\n", "{program}, confined");
        }
    }
    assert!(project.run(&["tool"], SandboxMode::Off).is_err(), "the working directory is not in `PATH`");
}

#[test]
fn a_process_that_cannot_be_started_gives_the_reason() {
    let mut project = ScratchProject::new();
    project.write("repo/text", "no program");
    let reason = |project: &ScratchProject, argv: &[&str]| project.run(argv, SandboxMode::Off).unwrap_err().to_string();
    assert_eq!(reason(&project, &[]), "the command is empty");
    let missing = "`no-such-program` cannot be started: it is not on the PATH";
    assert_eq!(reason(&project, &["no-such-program"]), missing);
    let forbidden = "`./text` cannot be started: Permission denied (os error 13)";
    assert_eq!(reason(&project, &["./text"]), forbidden);
    for (argv, expected) in [(["no-such-program"], missing), (["./text"], forbidden)] {
        if let Some(outcome) = project.confined(&argv) {
            assert_eq!(outcome.unwrap_err().to_string(), expected);
        }
    }
    project.timeout = Duration::ZERO;
    assert_eq!(reason(&project, &["sh"]), "`sh` was not started: no time was left for it");
    project.timeout = SHORT;
    std::fs::remove_file(project.path("repo/text")).unwrap();
    std::fs::remove_dir(project.path("repo")).unwrap();
    let directory = project.path("repo");
    assert_eq!(
        reason(&project, &["sh"]),
        format!("`sh` was not started: there is no folder `{}`", directory.display())
    );
}

#[test]
fn the_end_of_long_output_is_kept() {
    let outcome =
        ScratchProject::new().script("yes | head -c 4999998; echo end; yes no | head -c 4999998 >&2; echo end >&2");
    assert_eq!((outcome.stdout.len(), outcome.stderr.len()), (OUTPUT_LIMIT, OUTPUT_LIMIT));
    assert!(outcome.stdout.ends_with("\ny\nend\n") && outcome.stderr.ends_with("\nno\nend\n"));
}

#[test]
fn a_timeout_ends_all_processes_of_the_group() {
    let mut project = ScratchProject::new();
    project.timeout = SHORT;
    // The last script ignores SIGTERM. A process that survived would keep the output open.
    for script in ["sleep 600", "sleep 600 & sleep 600", "trap '' TERM; sleep 600 & while :; do sleep 600; done"] {
        let outcome = project.script(script);
        assert!(outcome.timed_out && outcome.exit_code.is_none() && !outcome.is_success(), "{script}");
        assert_eq!(outcome.notes, [], "{script}");
        if let Some(outcome) = project.confined_script(script) {
            assert_eq!((outcome.timed_out, outcome.notes), (true, Vec::new()), "{script}, confined");
        }
    }
}

#[test]
fn a_process_that_exits_on_sigterm_has_timed_out() {
    let mut project = ScratchProject::new();
    project.timeout = Duration::from_secs(1);
    let outcome = project.script("trap 'exit 0' TERM; while :; do sleep 0.01; done");
    assert!(outcome.timed_out && !outcome.is_success());
}

#[test]
fn endless_output_does_not_prevent_the_timeout() {
    let mut project = ScratchProject::new();
    project.timeout = SHORT;
    let outcome = project.script("yes & yes >&2");
    assert!(outcome.timed_out && outcome.notes.is_empty());
}

#[test]
fn background_processes_are_ended() {
    let project = ScratchProject::new();
    for script in ["sleep 600 & echo done", "(trap '' TERM; sleep 600; sleep 600) & echo done", "yes >&2 & echo done"] {
        let outcome = project.script(script);
        let found = (outcome.exit_code, outcome.timed_out, outcome.stdout.as_str());
        assert_eq!(found, (Some(0), false, "done\n"), "{script}");
        assert_eq!(outcome.notes, [ProcessNote::LeftBehind], "{script}");
    }
}

#[test]
fn a_background_process_without_output_gives_no_note() {
    let project = ScratchProject::new();
    let outcome = project.script("sleep 600 >/dev/null 2>&1 & echo $!");
    assert_eq!((outcome.exit_code, outcome.notes), (Some(0), Vec::new()));
    // `kill` fails if the process no longer exists.
    kill(&outcome.stdout);
}

#[test]
fn a_process_outside_of_the_group_is_not_waited_for() {
    let project = ScratchProject::new();
    let outcome = project.script("setsid sleep 600 & echo $!");
    assert_eq!((outcome.exit_code, outcome.notes), (Some(0), vec![ProcessNote::NotEnded]));
    kill(&outcome.stdout);
}

#[test]
fn a_signal_is_reported() {
    let outcome = ScratchProject::new().script("kill -9 $$");
    assert_eq!((outcome.exit_code, outcome.timed_out, outcome.notes), (None, false, vec![ProcessNote::Signal(9)]));
    assert_eq!(ProcessNote::Signal(9).to_string(), "it was killed by signal 9");
}

#[test]
fn the_longest_timeout_is_no_limit() {
    let mut project = ScratchProject::new();
    project.timeout = Duration::MAX;
    assert!(project.script(":").is_success());
}

fn kill(pid: &str) {
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
