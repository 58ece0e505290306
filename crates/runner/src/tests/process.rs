use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::stage::Stage;
use crate::{Confinement, OUTPUT_LIMIT, ProcessNote, ProcessOutcome};

/// Long enough for nothing: whatever waits longer than a test runs into it.
const SHORT: Duration = Duration::from_millis(200);

#[test]
fn a_process_says_how_it_went() {
    let outcome = Stage::new().script("echo one; echo two >&2; exit 3");
    let expected = ProcessOutcome {
        exit_code: Some(3),
        timed_out: false,
        stdout: "one\n".to_owned(),
        stderr: "two\n".to_owned(),
        notes: Vec::new(),
    };
    assert_eq!(outcome, expected);
    assert!(!outcome.is_success() && Stage::new().script(":").is_success());
}

#[test]
fn words_are_arguments_and_no_shell_reads_them() {
    let stage = Stage::new();
    let words = ["printf", "[%s]", "a b", "$HOME", "*", "; echo x", "-n", "", "--"];
    let expected = "[a b][$HOME][*][; echo x][-n][][--]";
    assert_eq!(stage.run(&words, Confinement::Off).unwrap().stdout, expected);
    if let Some(outcome) = stage.confined(&words) {
        assert_eq!(outcome.unwrap().stdout, expected);
    }
}

#[test]
fn it_runs_in_its_folder_with_nothing_to_read() {
    let stage = Stage::new();
    let outcome = stage.script("pwd -P; cat");
    let folder = stage.path("repo").canonicalize().unwrap();
    assert_eq!((outcome.exit_code, PathBuf::from(outcome.stdout.trim_end())), (Some(0), folder));
}

#[test]
fn programs_are_found_on_the_path_in_the_folder_and_at_home() {
    let mut stage = Stage::new();
    for place in ["repo/tool", "home/tool", "outside/found"] {
        symlink("/bin/sh", stage.path(place)).unwrap();
    }
    stage.set("PATH", stage.path("outside"));
    for program in ["./tool", "~/tool", "found", "/bin/sh"] {
        let words = [program, "-c", "echo \"$0\"", "arguments"];
        assert_eq!(stage.run(&words, Confinement::Off).unwrap().stdout, "arguments\n", "{program}");
        if let Some(outcome) = stage.confined(&words) {
            assert_eq!(outcome.unwrap().stdout, "arguments\n", "{program}, confined");
        }
    }
    assert!(stage.run(&["tool"], Confinement::Off).is_err(), "the folder is not on the path");
}

#[test]
fn what_cannot_be_started_says_why() {
    let mut stage = Stage::new();
    stage.write("repo/text", "no program");
    let why = |stage: &Stage, words: &[&str]| stage.run(words, Confinement::Off).unwrap_err().to_string();
    assert_eq!(why(&stage, &[]), "it names no program");
    let missing = "`no-such-program` cannot be started: No such file or directory (os error 2)";
    assert_eq!(why(&stage, &["no-such-program"]), missing);
    let forbidden = "`./text` cannot be started: Permission denied (os error 13)";
    assert_eq!(why(&stage, &["./text"]), forbidden);
    for (words, expected) in [(["no-such-program"], missing), (["./text"], forbidden)] {
        if let Some(outcome) = stage.confined(&words) {
            assert_eq!(outcome.unwrap_err().to_string(), expected);
        }
    }
    stage.timeout = Duration::ZERO;
    assert_eq!(why(&stage, &["sh"]), "`sh` was not started: no time was left for it");
    stage.timeout = SHORT;
    std::fs::remove_file(stage.path("repo/text")).unwrap();
    std::fs::remove_dir(stage.path("repo")).unwrap();
    let folder = stage.path("repo");
    assert_eq!(why(&stage, &["sh"]), format!("`sh` was not started: there is no folder `{}`", folder.display()));
}

#[test]
fn of_much_output_the_end_is_kept() {
    let outcome = Stage::new().script("yes | head -c 4999998; echo end; yes no | head -c 4999998 >&2; echo end >&2");
    assert_eq!((outcome.stdout.len(), outcome.stderr.len()), (OUTPUT_LIMIT, OUTPUT_LIMIT));
    assert!(outcome.stdout.ends_with("\ny\nend\n") && outcome.stderr.ends_with("\nno\nend\n"));
}

#[test]
fn a_process_is_ended_with_all_that_it_started() {
    let mut stage = Stage::new();
    stage.timeout = SHORT;
    // The last one does not heed a request. If anything were left, it would hold the output.
    for script in ["sleep 600", "sleep 600 & sleep 600", "trap '' TERM; sleep 600 & while :; do sleep 600; done"] {
        let outcome = stage.script(script);
        assert!(outcome.timed_out && outcome.exit_code.is_none() && !outcome.is_success(), "{script}");
        assert_eq!(outcome.notes, [], "{script}");
        if let Some(outcome) = stage.confined_script(script) {
            assert_eq!((outcome.timed_out, outcome.notes), (true, Vec::new()), "{script}, confined");
        }
    }
}

#[test]
fn one_that_ends_when_asked_to_was_too_late_still() {
    let mut stage = Stage::new();
    stage.timeout = Duration::from_secs(1);
    let outcome = stage.script("trap 'exit 0' TERM; while :; do sleep 0.01; done");
    assert!(outcome.timed_out && !outcome.is_success());
}

#[test]
fn endless_output_is_no_obstacle() {
    let mut stage = Stage::new();
    stage.timeout = SHORT;
    let outcome = stage.script("yes & yes >&2");
    assert!(outcome.timed_out && outcome.notes.is_empty());
}

#[test]
fn what_it_leaves_behind_is_ended() {
    let stage = Stage::new();
    for script in ["sleep 600 & echo done", "(trap '' TERM; sleep 600; sleep 600) & echo done", "yes >&2 & echo done"] {
        let outcome = stage.script(script);
        let found = (outcome.exit_code, outcome.timed_out, outcome.stdout.as_str());
        assert_eq!(found, (Some(0), false, "done\n"), "{script}");
        assert_eq!(outcome.notes, [ProcessNote::LeftBehind], "{script}");
    }
}

#[test]
fn what_lets_go_of_the_output_may_stay() {
    let stage = Stage::new();
    let outcome = stage.script("sleep 600 >/dev/null 2>&1 & echo $!");
    assert_eq!((outcome.exit_code, outcome.notes), (Some(0), Vec::new()));
    // Fails where it is not there any more.
    end(&outcome.stdout);
}

#[test]
fn what_has_left_the_group_is_not_waited_for() {
    let stage = Stage::new();
    let outcome = stage.script("setsid sleep 600 & echo $!");
    assert_eq!((outcome.exit_code, outcome.notes), (Some(0), vec![ProcessNote::NotEnded]));
    end(&outcome.stdout);
}

#[test]
fn a_signal_is_told() {
    let outcome = Stage::new().script("kill -9 $$");
    assert_eq!((outcome.exit_code, outcome.timed_out, outcome.notes), (None, false, vec![ProcessNote::Signal(9)]));
    assert_eq!(ProcessNote::Signal(9).to_string(), "signal 9 ended it");
}

#[test]
fn a_time_that_never_comes_is_no_limit() {
    let mut stage = Stage::new();
    stage.timeout = Duration::MAX;
    assert!(stage.script(":").is_success());
}

fn end(pid: &str) {
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
