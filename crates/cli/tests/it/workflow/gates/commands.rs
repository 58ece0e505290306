//! Gates with a command that must succeed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use guard::workflow::{Force, GATE_ARGUMENT, GateRunOptions, GateRunners, StepOutcome, WorkflowCommands};
use guard::{Environment, Project};
use testkit::TestProject;

use super::{counting_gate, moves_in_status, repository, run_count, temp, with_gates, write_workflow};
use crate::PROGRAM;

#[test]
fn a_passing_command_lets_the_move_through() {
    let project = with_gates("[{command: 'test -f a.txt'}]");
    insta::assert_snapshot!(project.run(&["next"]).transcript(), @"
    exit 0
    --- stdout
    Rest.
    --- stderr
    running `test -f a.txt`
    now at `rest` of `w`
    ");
}

#[test]
fn a_failing_command_is_reported_with_its_output() {
    let script = r"printf '\033[31mfirst\033[0m\n10%%\r100%%\n'; echo 'at the end' >&2; exit 7";
    let project = with_gates(&format!("[{}]", counting_gate("count", script)));
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(1), "{}", reply.stdout);
    assert!(reply.stdout.starts_with("Still at `work`:"), "{}", reply.stdout);
    assert!(reply.stdout.contains("failed with exit code 7 after 0."), "{}", reply.stdout);
    assert!(reply.stdout.ends_with(" s\nfirst\n100%\nat the end\n"), "{:?}", reply.stdout);
    let output_text = project.run(&["next", "--json"]).json();
    assert_eq!((&output_text["moved"], &output_text["lacks"][0]["gate"]), (&false.into(), &"work/1".into()));
    assert!(!output_text.to_string().contains("u001b"), "{output_text}");
    // A failed command runs again at every attempt to move, because the cause of its failure could be outside of the
    // tree.
    assert_eq!(run_count("count", &project), 2);
}

#[test]
fn shell_syntax_in_a_command_is_an_error_that_suggests_shell() {
    let project = repository();
    write_workflow(&project, "[{command: 'true && false'}]", "");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 2
    --- stdout
    error: `command` has `&&`, which only a shell interprets, but no shell runs `command` (node `work`)
     --> .linchpin/workflows/w.yml:8:26
      |
    8 |     requires: [{command: 'true && false'}]
      |                          ^^^^^^^^^^^^^^^
      |
      = help: to run it in a shell, write `shell: "true && false"` instead of `command`; to pass it as an argument, quote it or write the words as a list

    2 rules in force, 1 workflow; 1 error.
    --- stderr
    "#);
    for command in [
        "a | b",
        "a > b",
        "a; b",
        "ls $HOME",
        "test \"$(id -u)\" = 0",
        "serve &",
        "ls *.rs",
        "ls a?",
        "ls [ab].rs",
        "ls {a,b}",
        "make # all",
    ] {
        write_workflow(&project, &format!("[{{command: '{command}'}}]"), "");
        let reply = project.run(&["validate"]);
        assert_eq!(reply.code, Some(2), "{command}: {}", reply.transcript());
        assert!(reply.transcript().contains("no shell runs"), "{command}: {}", reply.transcript());
    }
    write_workflow(&project, "[{command: \"python -c 'a; b'\"}, {command: [echo, '&&']}]", "");
    assert_eq!(project.run(&["validate"]).code, Some(0));
    project.config("progress_command: notify && log\n");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: `progress_command` has `&&`, which only a shell interprets, but no shell runs `progress_command`
     --> .linchpin/config.yml:1:19
      |
    1 | progress_command: notify && log
      |                   ^^^^^^^^^^^^^
      |
      = help: to run it in a shell, write `sh -c '…'`; to pass it as an argument, quote it

    note: .linchpin/workflows/w.yml: until you run `linchpin trust`, these gates are not met: gate `work/1`: runs `python -c 'a; b'`; gate `work/2`: runs `echo '&&'`

    2 rules in force, 1 workflow; 1 error.
    --- stderr
    ");
}

#[test]
fn a_script_runs_in_a_shell_after_it_is_trusted() {
    let project = repository();
    write_workflow(&project, "[{shell: 'test -f a.txt && echo it is there && false', timeout: 1m}]", "");
    assert_eq!(project.run(&["start", "w"]).code, Some(0));
    let untrusted = project.run(&["next"]).stdout;
    assert!(untrusted.contains("is not trusted yet"), "{untrusted}");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(1), "{}", reply.transcript());
    assert!(reply.stdout.contains("`test -f a.txt && echo it is there && false` failed"), "{}", reply.stdout);
    assert!(reply.stdout.ends_with("it is there\n"), "{}", reply.stdout);
    let project = with_gates("[{shell: 'test -f nowhere || test -f a.txt'}]");
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn a_passed_command_is_not_run_again_until_the_tree_changes() {
    let project = with_gates(&format!("[{}, {}]", counting_gate("passes", "true"), counting_gate("fails", "false")));
    for round in 1..=3 {
        assert_eq!(project.run(&["next"]).code, Some(1));
        assert_eq!((run_count("passes", &project), run_count("fails", &project)), (1, round));
    }
    project.git(&["add", "--all"]);
    project.git(&["commit", "-q", "-m", "the same content"]);
    project.run(&["next"]);
    assert_eq!(run_count("passes", &project), 1);
    project.file("a.txt", "two\n");
    project.run(&["next"]);
    assert_eq!(run_count("passes", &project), 2);
    project.file("new.txt", "new\n");
    project.run(&["next"]);
    assert_eq!(run_count("passes", &project), 3);
}

#[test]
fn a_receipt_records_the_command_and_the_tree() {
    let project = with_gates("[{command: [sh, -c, 'echo all is well']}]");
    project.run(&["next"]);
    let directory =
        fs::read_dir(project.state().join("projects")).expect("a directory").next().expect("one").expect("one");
    let files =
        fs::read_dir(directory.path().join("receipts")).expect("a directory").map(|file| file.expect("one").path());
    let file = files.into_iter().find(|file| file.extension().is_some_and(|kind| kind == "json")).expect("a receipt");
    let receipt: serde_json::Value = serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON");
    assert_eq!(receipt["command"], "sh -c 'echo all is well'");
    assert_eq!((&receipt["exit_code"], &receipt["passed"]), (&0.into(), &true.into()));
    assert_eq!((&receipt["output"], &receipt["tree_stayed"]), (&"all is well".into(), &true.into()));
    assert_eq!(receipt["tree"].as_str().map(str::len), Some(64));
    assert!(receipt["duration"].is_object() && receipt["ended"].is_i64());
}

#[test]
fn a_pass_does_not_count_if_files_changed_meanwhile() {
    let project = with_gates("[{command: [sh, -c, 'echo made > made.txt']}]");
    let first = project.run(&["next"]);
    assert_eq!(first.code, Some(1));
    let output_text = "passed, but files changed while it ran (`made.txt`), so the result does not count";
    assert!(first.stdout.contains(output_text), "{}", first.stdout);
    // The second run writes the same contents again, so no file changes.
    assert_eq!(project.run(&["next"]).code, Some(0));
}

#[test]
fn without_git_a_pass_counts_for_one_move() {
    let project = crate::project();
    write_workflow(
        &project,
        &format!("[{}, {}]", counting_gate("passes", "true"), counting_gate("fails", "false")),
        "",
    );
    project.run(&["trust", "--yes"]);
    project.run(&["start", "w"]);
    for round in 1..=2 {
        assert_eq!(project.run(&["next"]).code, Some(1));
        assert_eq!((run_count("passes", &project), run_count("fails", &project)), (round, round));
    }
}

#[test]
fn a_command_over_its_timeout_is_killed() {
    let project = with_gates("[{command: [sh, -c, 'echo begun; sleep 60'], timeout: 1s}]");
    let started = Instant::now();
    let reply = project.run(&["next"]);
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(reply.code, Some(1));
    assert!(reply.stdout.contains("was killed after its time limit of 1s\nbegun"), "{}", reply.stdout);
}

#[test]
fn a_missing_program_is_reported() {
    let project = with_gates("[{command: no-such-program-anywhere}]");
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(1));
    assert!(reply.stdout.contains("`no-such-program-anywhere` did not run"), "{}", reply.stdout);
}

#[test]
fn gate_commands_run_in_the_sandbox() {
    let project = with_gates("[{command: [sh, -c, 'env; exit 1']}]");
    let mut command = project.command(&["next"]);
    command.env("API_TOKEN", "sesame-sesame").env("LINCHPIN_X", "y");
    let output = command.output().expect("the program runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("PATH=") && !stdout.contains("sesame"), "{stdout}");
    if runner::is_sandbox_supported() {
        let project = with_gates("[{command: [sh, -c, 'echo x > $HOME/escaped']}]");
        assert_eq!(project.run(&["next"]).code, Some(1));
        assert!(!project.home().join("escaped").exists());
    }
}

#[test]
fn concurrent_moves_run_a_command_once() {
    let project = with_gates(&format!("[{}, {{command: 'false'}}]", counting_gate("slow", "sleep 0.5")));
    let processes: Vec<_> = (0..4)
        .map(|_| {
            let mut command = project.command(&["next"]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("the program runs")
        })
        .collect();
    for child in processes {
        let output = child.wait_with_output().expect("the program ends");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{stdout}");
        assert!(stdout.contains("`false` failed with exit code 1"), "{stdout}");
    }
    assert_eq!(run_count("slow", &project), 1);
}

#[test]
fn status_shows_a_running_gate_and_its_last_line() {
    let script = "echo compiling; echo testing; until test -f $TMPDIR/go; do sleep 0.05; done";
    let project = with_gates(&format!("[{}]", counting_gate("slow", script)));
    let mut process = project.command(&["next"]);
    let process = process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let gate = || project.run(&["status", "--json"]).json()["workflow"]["gates"][0].clone();
    wait_for("its last line", || gate()["running"]["last_line"] == "testing");
    assert!(gate()["running"]["started"].is_i64(), "{}", gate());
    let shown = moves_in_status(&project);
    assert!(shown.contains("      work/1, running `sh -c ") && shown.contains("s: testing\n"), "{shown}");
    fs::write(temp(&project).join("go"), "").expect("a file");
    let output = process.wait_with_output().expect("it ends");
    let output_text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output_text.starts_with("running `sh -c ") && output_text.ends_with("\nnow at `rest` of `w`\n"),
        "{output_text}"
    );
}

#[test]
fn a_gate_whose_process_was_killed_is_not_shown_as_running() {
    let project = with_gates(&format!("[{}]", counting_gate("slow", "kill -9 $PPID; exec sleep 60")));
    assert!(project.run(&["next"]).stdout.contains("ended without a result"));
    assert!(moves_in_status(&project).contains("work/1, not checked yet:"), "{}", moves_in_status(&project));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_command_of_a_gate() {
    let project = with_gates(&format!("[{}]", counting_gate("slow", "echo $$ > $TMPDIR/pid; trap '' INT; sleep 600")));
    let mut process = project.command(&["next"]);
    let process = process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let pid = || fs::read_to_string(temp(&project).join("pid")).unwrap_or_default().trim().to_owned();
    wait_for("it to begin", || !pid().is_empty());
    let signal = |arguments: &[&str]| Command::new("kill").args(arguments).output().expect("kill").status.success();
    assert!(signal(&["-INT", &process.id().to_string()]));
    let output = process.wait_with_output().expect("it ends");
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{output_text}");
    assert!(output_text.contains("was cancelled and killed; `linchpin next` starts it again"), "{output_text}");
    wait_for("its end", || !signal(&["-0", &pid()]));
    // The interrupted command has left no result, so the next attempt starts it again.
    assert!(!moves_in_status(&project).contains("running"), "{}", moves_in_status(&project));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_command_that_an_earlier_attempt_started() {
    let project = with_gates(&format!("[{}]", counting_gate("slow", "echo $$ > $TMPDIR/pid; exec sleep 600")));
    let start = || {
        let mut process = project.command(&["next"]);
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
    };
    let pid = || fs::read_to_string(temp(&project).join("pid")).unwrap_or_default().trim().to_owned();
    let signal = |arguments: &[&str]| Command::new("kill").args(arguments).output().expect("kill").status.success();
    let mut first = start();
    wait_for("it to begin", || !pid().is_empty());
    first.kill().expect("it is ended");
    first.wait().expect("it is ended");
    let second = start();
    // The second `linchpin next` starts a child process, which waits for the command that is running.
    wait_for("the second to wait", || {
        let listed = Command::new("ps").args(["-o", "pid=", "--ppid", &second.id().to_string()]).output();
        listed.is_ok_and(|listed| !listed.stdout.is_empty())
    });
    assert!(signal(&["-INT", &second.id().to_string()]));
    let output = second.wait_with_output().expect("it ends");
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{output_text}");
    assert!(output_text.contains("was cancelled and killed"), "{output_text}");
    wait_for("its end", || !signal(&["-0", &pid()]));
    assert_eq!(run_count("slow", &project), 1);
}

#[test]
fn secrets_in_a_command_are_masked_while_it_runs() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let project = with_gates(&format!("[{{command: [sh, -c, 'exit 1', '{secret}']}}]"));
    let output_text = project.run(&["next"]).transcript();
    assert!(output_text.contains("running `sh -c") && !output_text.contains(&secret), "{output_text}");
}

#[test]
fn a_gate_command_outlives_the_caller() {
    let project = with_gates(&format!("[{}]", counting_gate("slow", "sleep 1")));
    let mut process = project.command(&["next"]);
    let mut process =
        process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    wait_for("it to begin", || run_count("slow", &project) == 1);
    process.kill().expect("it is ended");
    process.wait().expect("it is ended");
    assert_eq!(project.run(&["next"]).code, Some(0));
    assert_eq!(run_count("slow", &project), 1);
}

#[test]
fn a_slow_command_continues_and_its_receipt_is_used_later() {
    let project = with_gates(&format!("[{}]", counting_gate("slow", "until test -f $TMPDIR/go; do sleep 0.05; done")));
    for _ in 0..2 {
        let output_text = next_with_short_wait(&project);
        assert!(output_text.contains("is still running; run `linchpin next` again"), "{output_text}");
    }
    fs::write(temp(&project).join("go"), "").expect("a file");
    assert_eq!(project.run(&["next"]).code, Some(0));
    assert_eq!(run_count("slow", &project), 1);
}

#[test]
fn a_failure_after_the_wait_is_reported_at_the_next_attempt() {
    let script = "until test -f $TMPDIR/go; do sleep 0.05; done; touch $TMPDIR/over; echo alas; exit 3";
    let project = with_gates(&format!("[{}]", counting_gate("slow", script)));
    assert!(next_with_short_wait(&project).contains("still running"));
    fs::write(temp(&project).join("go"), "").expect("a file");
    let reply = project.run(&["next"]);
    assert!(reply.stdout.contains("failed with exit code 3") && reply.stdout.contains("alas"), "{}", reply.stdout);
    assert_eq!(run_count("slow", &project), 1);
    project.run(&["next"]);
    assert_eq!(run_count("slow", &project), 2);
}

#[test]
fn a_killed_command_is_reported_and_started_again() {
    let script = "test -f $TMPDIR/second && exit 0; touch $TMPDIR/second; kill -9 $PPID; exec sleep 60";
    let project = with_gates(&format!("[{}]", counting_gate("count", script)));
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(1));
    assert!(reply.stdout.contains("ended without a result"), "{}", reply.stdout);
    assert_eq!(project.run(&["next"]).code, Some(0));
}

/// Tries to move, and waits only a tenth of a second for the gate's command. Returns why the gates failed, or the
/// outcome of the move.
fn next_with_short_wait(project: &TestProject) -> String {
    let environment = environment_of(project);
    let found = Project::at(&project.root(), &environment);
    // The process that runs the gate's command gets the same environment variables.
    let variables = VARIABLES.with_borrow(|all| {
        all.iter().map(|(name, value)| [name.into(), value.clone()].join(OsStr::new("="))).collect::<Vec<_>>()
    });
    let call = [["env".into(), "-i".into()].to_vec(), variables, vec![PROGRAM.into(), GATE_ARGUMENT.into()]].concat();
    let options = GateRunOptions {
        call,
        wait_limit: Duration::from_millis(100),
        ..GateRunOptions::by_this_binary("linchpin next")
    };
    let workflow_commands = WorkflowCommands {
        project: &found,
        environment: &environment,
        policy: Arc::new(found.compiled_policy(&environment)),
        now: 1,
        agent_session: None,
        hat_phase: None,
        is_by_agent: false,
        gate_runners: GateRunners { command: options, webhook: |_, _, _| Err("no webhook is called".to_owned()) },
    };
    match workflow_commands.next(&[], &Force::None).expect("a step").outcome {
        StepOutcome::GatesFailed(failed_gates) => failed_gates.into_iter().map(|failed_gate| failed_gate.why).collect(),
        other => format!("{other:?}"),
    }
}

thread_local! {
    static VARIABLES: RefCell<BTreeMap<String, OsString>> = RefCell::default();
}

/// Returns the environment that `linchpin` has in this project, for code that runs in the test's own process.
fn environment_of(project: &TestProject) -> Environment {
    let command = project.command(&[]);
    let variables = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_owned())));
    VARIABLES.set(variables.collect());
    Environment::new(|name| VARIABLES.with_borrow(|all| all.get(name).cloned()), temp(project), project.root())
}

fn wait_for(awaited: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "waited too long for {awaited}");
        thread::sleep(Duration::from_millis(10));
    }
}
