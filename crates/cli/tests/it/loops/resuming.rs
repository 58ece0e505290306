//! Killed and resumed runs, and commands about runs.

use std::fs;

use serde_json::Value;

use super::*;

fn show_run(project: &TestProject) -> Value {
    project.run(&["runs", "show", "--json"]).json()
}

#[test]
#[cfg(unix)]
fn a_killed_run_resumes_without_losing_or_repeating_work() {
    let script = format!(
        r#"
        echo "$LINCHPIN_ITERATION" >> iterations
        if test "$LINCHPIN_ITERATION" = 2; then touch begun; {HANG}; fi
        test "$LINCHPIN_ITERATION" -lt 4 || exec "$LINCHPIN_BIN" emit loop.complete
        "$LINCHPIN_BIN" emit again "after $LINCHPIN_ITERATION"
        "#
    );
    let project = with_loop(&format!("{ONE_HAT_LOOP}limits: {{iterations: 3}}\n"), &script);
    let mut run = spawn(&project, &["run", "-p", "Go"]);
    wait_for(&project.root().join("begun"));
    signal(&run, "-KILL");
    run.wait().expect("its end");
    assert_eq!(show_run(&project)["state"], "cut off");
    let reply = project.run(&["run", "--resume"]);
    // The second iteration was killed and does not count against the limit of three: the first, third and fourth do.
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    let run = show_run(&project);
    assert_eq!((&run["iterations_done"], &run["objective"]), (&Value::from(3), &Value::from("Go")));
    let outcomes: Vec<&str> = run["iterations"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|iteration| iteration["outcome"].as_str())
        .collect();
    assert_eq!(outcomes, ["handed_over", "cut_off", "handed_over", "handed_over"]);
    assert_eq!(fs::read_to_string(project.root().join("iterations")).expect("a file"), "1\n2\n3\n4\n");
}

#[test]
#[cfg(unix)]
fn accepted_topics_survive_a_killed_driver() {
    let script = format!(
        r#"
        case $LINCHPIN_ITERATION in
            1) "$LINCHPIN_BIN" emit again 'from the first'; touch begun; {HANG};;
            *) cat > prompt; "$LINCHPIN_BIN" emit loop.complete;;
        esac
        "#
    );
    let project = with_loop(ONE_HAT_LOOP, &script);
    let mut run = spawn(&project, &["run", "-p", "Do it"]);
    wait_for(&project.root().join("begun"));
    signal(&run, "-KILL");
    run.wait().expect("its end");
    let reply = project.run(&["run", "--resume"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    let prompt = fs::read_to_string(project.root().join("prompt")).expect("a prompt");
    assert!(prompt.contains("<event topic=\"again\" from=\"worker\">\n> from the first\n</event>"), "{prompt}");
    let run = show_run(&project);
    assert_eq!(run["iterations_done"], 2);
}

#[test]
#[cfg(unix)]
fn a_run_killed_after_its_completion_is_completed() {
    let project = with_loop(ONE_HAT_LOOP, &format!(r#""$LINCHPIN_BIN" emit loop.complete; touch begun; {HANG}"#));
    let mut run = spawn(&project, &["run", "-p", "Do it"]);
    wait_for(&project.root().join("begun"));
    signal(&run, "-KILL");
    run.wait().expect("its end");
    let reply = project.run(&["run", "--resume", "r1"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    assert!(!reply.stderr.contains("#2"), "{}", reply.transcript());
    let reply = project.run(&["run", "--resume", "r1"]);
    insta::assert_snapshot!(reply.transcript());
}

#[test]
#[cfg(target_os = "linux")]
fn leftover_processes_are_killed_before_a_run_resumes() {
    // One child stays in the agent's process group, one has left it, and one has only `PATH` in its environment.
    let script = format!(
        r#"
        test "$LINCHPIN_ITERATION" = 1 || exec "$LINCHPIN_BIN" emit loop.complete
        sh -c 'echo $$ > child; {HANG}' & setsid sh -c 'echo $$ > other; {HANG}' &
        env -i PATH="$PATH" sh -c 'echo $$ > bare; {HANG}' &
        until test -s child && test -s other && test -s bare; do sleep 0.02; done
        touch begun; wait
        "#
    );
    let project = with_loop(ONE_HAT_LOOP, &script);
    // The environment variable of this process names a run of another project, so the process must stay alive.
    let mut unrelated = std::process::Command::new("sh");
    unrelated.args(["-c", HANG]).current_dir(project.root()).env("LINCHPIN_STARTED_BY", "r1 /elsewhere");
    let mut unrelated = unrelated.spawn().expect("a process");
    for arguments in [&["run", "--resume"][..], &["run", "-p", "Something else"]] {
        for file in ["begun", "child", "other", "bare"] {
            let _ = fs::remove_file(project.root().join(file));
        }
        let mut run = spawn(&project, &["run", "-p", "Go"]);
        wait_for(&project.root().join("begun"));
        signal(&run, "-KILL");
        run.wait().expect("its end");
        let read_pid = |file: &str| fs::read_to_string(project.root().join(file)).expect("a number").trim().to_owned();
        let leftovers = [read_pid("child"), read_pid("other"), read_pid("bare")];
        assert!(leftovers.iter().all(|process| processes::is_alive(process)), "the processes are alive");
        if arguments[1] == "-p" {
            // With the first script, the first iteration of the new run would hang as well.
            project.file("agent.sh", r#"exec "$LINCHPIN_BIN" emit loop.complete"#);
        }
        let reply = project.run(arguments);
        assert_eq!(reply.code, Some(0), "{}", reply.transcript());
        assert!(leftovers.iter().all(|process| processes::wait_for_end(process)), "{}", reply.transcript());
        assert!(reply.stderr.contains(" processes left over from the run\n"), "{}", reply.transcript());
    }
    assert!(processes::is_alive(&unrelated.id().to_string()));
    unrelated.kill().expect("ended");
    unrelated.wait().expect("its end");
}

#[test]
#[cfg(target_os = "linux")]
fn a_person_kills_leftover_processes() {
    let script = format!(
        "env -i PATH=\"$PATH\" sh -c 'echo $$ > bare; {HANG}' & until test -s bare; do :; done; touch begun; wait"
    );
    let project = with_loop(ONE_HAT_LOOP, &script);
    let mut run = spawn(&project, &["run", "-p", "Go"]);
    wait_for(&project.root().join("begun"));
    signal(&run, "-KILL");
    run.wait().expect("its end");
    let bare = fs::read_to_string(project.root().join("bare")).expect("a number").trim().to_owned();
    assert!(processes::is_alive(&bare));
    // The number of processes in the message depends on the timing of `sleep`.
    let count = Regex::new(r"\d+ process(es)?").expect("a pattern");
    let without_counts = |text: &str| count.replace_all(text, "N processes").into_owned();
    insta::assert_snapshot!(without_counts(&project.run(&["stop"]).transcript()), @"
    exit 2
    --- stdout
    --- stderr
    error: run r1 is not running, but left N processes behind
    help: `linchpin runs stop r1` ends them
    ");
    let status = without_counts(&project.run(&["status"]).stdout);
    let run_line = status.lines().find(|line| line.starts_with("Run")).unwrap_or_default();
    insta::assert_snapshot!(run_line, @"Run     r1 cut off, N processes left behind (`linchpin runs stop r1` ends them); `linchpin run --resume` resumes it");
    let shown = without_counts(&project.run(&["runs", "show"]).stdout);
    assert!(shown.contains("  N processes left over; `linchpin runs stop r1` ends them\n"), "{shown}");
    insta::assert_snapshot!(without_counts(&project.run(&["runs", "stop"]).transcript()), @"
    exit 0
    --- stdout
    Run r1 was not running. Ended N processes left over from it. `linchpin run --resume r1` resumes it.
    --- stderr
    ");
    assert!(processes::wait_for_end(&bare));
    assert_eq!(project.run(&["runs", "stop"]).code, Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn a_gates_command_ends_with_the_run() {
    // The gate's command has one child in its process group, and one that has left it.
    let gate = format!(
        r"
        sh -c 'echo $$ > child; {HANG}' & setsid sh -c 'echo $$ > other; {HANG}' &
        until test -s child && test -s other; do sleep 0.02; done
        echo $$ > gate; touch begun; {HANG}
        "
    );
    let the_loop = format!("{ONE_HAT_LOOP}completion: {{requires: [{{command: [sh, gate.sh]}}]}}\n");
    for ending in ["-INT", "-TERM", "runs stop", "-KILL"] {
        let project = with_loop(&the_loop, r#""$LINCHPIN_BIN" emit loop.complete"#);
        project.file("gate.sh", &gate);
        let mut run = spawn(&project, &["run", "-p", "Go"]);
        wait_for(&project.root().join("begun"));
        let read_pid = |file: &str| fs::read_to_string(project.root().join(file)).expect("a number").trim().to_owned();
        let leftovers = ["gate", "child", "other"].map(read_pid);
        assert!(leftovers.iter().all(|process| processes::is_alive(process)), "{ending}: the processes are alive");
        if ending == "runs stop" {
            assert_eq!(project.run(&["runs", "stop"]).code, Some(0));
        } else {
            signal(&run, ending);
        }
        run.wait().expect("its end");
        if ending == "-KILL" {
            project.file("gate.sh", "true");
            let reply = project.run(&["run", "--resume"]);
            assert_eq!(reply.code, Some(1), "the gate's file was changed: {}", reply.transcript());
        }
        let alive: Vec<&String> = leftovers.iter().filter(|process| !processes::wait_for_end(process)).collect();
        assert!(alive.is_empty(), "{ending}: {alive:?} of {leftovers:?}");
    }
}

#[test]
fn a_resumed_run_without_waiting_topics_publishes_task_resume() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
hats:
  planner: {triggers: [task.start, task.resume], publishes: [aside, loop.complete]}
  observer: {triggers: [aside]}
";
    let script = r#"
        cat > "prompt-$LINCHPIN_ITERATION"
        case $LINCHPIN_ITERATION in 1) "$LINCHPIN_BIN" emit aside > emit.log;; 3) "$LINCHPIN_BIN" emit loop.complete > emit.log;; esac
    "#;
    let project = with_loop(the_loop, script);
    let reply = project.run(&["run", "-p", "Do it"]);
    insta::assert_snapshot!(run_output(&project, &reply), @"

    ---
    [r1] starts; `linchpin runs show r1` shows its progress
    [r1 #1] hat `planner` starts on `task.start`; 0 iterations so far
    [r1] hat `planner` published `aside`
    [r1 #2] hat `observer` starts on `aside`; 1 iteration so far
    [r1] hat `observer` is done; it publishes no topic
    [r1] failed: no topic is left to handle, and no hat published the completion topic; the hat `observer` publishes nothing
    [r1] spent 2 iterations
    [r1] `linchpin run --resume r1` resumes it
    [r1] output of the agents: [BASE]/state/linchpin/projects/[ID]/runs/r1
    exit 1
    ");
    let reply = project.run(&["run", "--resume"]);
    insta::assert_snapshot!(run_output(&project, &reply), @"

    ---
    [r1] resumes; `linchpin runs show r1` shows its progress
    [r1 #3] hat `planner` starts on `task.resume`; 2 iterations so far
    [r1] hat `planner` published `loop.complete`
    [r1] completed: `loop.complete` was accepted
    [r1] spent 3 iterations
    exit 0
    ");
    let prompt = fs::read_to_string(project.root().join("prompt-3")).expect("a prompt");
    assert!(prompt.contains("<event topic=\"task.resume\">\n> Do it\n</event>"), "{prompt}");
}

#[test]
fn a_run_that_cannot_be_resumed_does_not_suggest_it() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
hats:
  planner: {triggers: [task.start], publishes: [aside, loop.complete]}
  observer: {triggers: [aside]}
";
    let script = r#"test "$LINCHPIN_HAT" = observer || "$LINCHPIN_BIN" emit aside > emit.log"#;
    let project = with_loop(the_loop, script);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert!(reply.stderr.contains("; the hat `observer` publishes nothing\n"), "{}", reply.transcript());
    assert!(!reply.stderr.contains("--resume"), "{}", reply.transcript());
    let status = project.run(&["status"]).stdout;
    assert!(
        status.contains("Run     r1 failed: no topic is left to handle") && !status.contains("--resume"),
        "{status}"
    );
}

#[test]
fn only_one_run_per_tree_can_be_active() {
    let project = with_loop(
        ONE_HAT_LOOP,
        r#"touch begun; while ! test -f go; do sleep 0.02; done; "$LINCHPIN_BIN" emit loop.complete"#,
    );
    let run = spawn(&project, &["run", "-p", "Do it"]);
    wait_for(&project.root().join("begun"));
    for arguments in [&["run", "-p", "Do it"][..], &["run", "--resume"]] {
        let reply = project.run(arguments);
        insta::allow_duplicates! {
            insta::assert_snapshot!(reply.stderr, @r"
            error: run r1 is already running in this tree
            help: wait for it, or stop it with `linchpin runs stop`
            ");
        }
    }
    project.file("go", "");
    assert_eq!(run.wait_with_output().expect("its end").status.code(), Some(0));
}

#[test]
fn invalid_runs_are_errors() {
    let project = with_loop(ONE_HAT_LOOP, r#""$LINCHPIN_BIN" emit loop.complete"#);
    let replies = [
        project.run(&["run", "--resume"]),
        project.run(&["run", "--resume", "r9"]),
        project.run(&["run", "--resume", "nine"]),
        project.run(&["run", "--prompt-file", "missing"]),
        project.run(&["runs"]),
        project.run(&["runs", "show", "r4"]),
    ];
    let replies = replies.iter().map(ProcessOutput::transcript).collect::<Vec<_>>().join("\n\n");
    insta::assert_snapshot!(project.redacted(&replies));
    project.file(".linchpin/loop.yml", ONE_HAT_LOOP.replace("agent.sh", "other.sh"));
    insta::assert_snapshot!(project.run(&["run", "-p", "Do it"]).transcript());
    project.file(".linchpin/loop.yml", "agent: claude\n");
    assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(2));
}

#[test]
fn approve_without_a_run_is_an_error() {
    let project = with_loop(ONE_HAT_LOOP, "");
    insta::assert_snapshot!(project.run(&["approve", "human", "--yes"]).transcript());
}

#[test]
fn a_known_agent_is_not_started_without_hooks() {
    let project = with_loop(&ONE_HAT_LOOP.replace("{command: [sh, agent.sh]}", "codex"), "");
    insta::assert_snapshot!(project.run(&["run", "-p", "Do it"]).transcript());
    assert!(project.run(&["runs"]).stdout.starts_with("There is no run here yet."));
}

#[test]
fn a_run_needs_an_objective_or_ready_tasks() {
    let project = with_loop(ONE_HAT_LOOP, r#""$LINCHPIN_BIN" emit loop.complete"#);
    insta::assert_snapshot!(project.run(&["run"]).transcript());
    assert!(project.run(&["runs"]).stdout.starts_with("There is no run here yet."));
    // A run can start with a ready task instead of an objective, or with an `on_trigger` text for the first topic,
    // `task.start`.
    project.run(&["task", "add", "Ready to go"]);
    assert_eq!(project.run(&["run"]).code, Some(0));
    let project = with_loop(
        &format!("{ONE_HAT_LOOP}topics: {{task.start: {{on_trigger: Mend what is broken.}}}}\n"),
        r#""$LINCHPIN_BIN" emit loop.complete"#,
    );
    assert_eq!(project.run(&["run"]).code, Some(0));
}

#[test]
fn a_workflow_and_a_run_cannot_be_active_together() {
    let project = with_loop(
        ONE_HAT_LOOP,
        r#"touch begun; while ! test -f go; do sleep 0.02; done; "$LINCHPIN_BIN" emit loop.complete"#,
    );
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code:\n    prompt: Code.\n    transitions: [{when: code_complete, to: done}]\n",
    );
    project.run(&["start", "work"]);
    insta::assert_snapshot!(project.run(&["run", "-p", "Do it"]).transcript());
    project.run(&["abort"]);
    let run = spawn(&project, &["run", "-p", "Do it"]);
    wait_for(&project.root().join("begun"));
    insta::assert_snapshot!(project.run(&["start", "work"]).transcript());
    project.file("go", "");
    assert_eq!(run.wait_with_output().expect("its end").status.code(), Some(0));
}

#[test]
fn dry_run_shows_the_first_prompt_and_starts_nothing() {
    let project = with_loop(ONE_HAT_LOOP, "touch started");
    project.run(&["task", "add", "Ready to go"]);
    let reply = project.run(&["run", "--dry-run", "-p", "Make {{ it }}"]);
    assert!(reply.stdout.contains("t1 (priority 3) Ready to go"), "{}", reply.transcript());
    assert_eq!(project.run(&["run", "-p", " "]).code, Some(2));
    assert!(reply.stdout.contains("<objective>\n> Make {{ it }}\n</objective>"), "{}", reply.transcript());
    assert!(!project.root().join("started").exists());
    assert!(project.run(&["runs"]).stdout.starts_with("There is no run here yet."));
}

#[test]
fn a_run_does_not_change_gits_state() {
    let project = with_loop(ONE_HAT_LOOP, r#"echo 1 > made; "$LINCHPIN_BIN" emit loop.complete"#);
    project.file("staged", "1").file("changed", "1");
    project.git(&["add", "staged", "changed"]);
    project.file("changed", "2");
    let state = || {
        [
            &["status", "--porcelain"][..],
            &["log", "--all", "--oneline"],
            &["stash", "list"],
            &["for-each-ref"],
            &["worktree", "list"],
            &["config", "--list", "--local"],
        ]
        .map(|arguments| project.git(arguments))
    };
    let before = state();
    assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(0));
    let mut after = state();
    after[0] = after[0].replace("\n?? made", "");
    let without_state_files =
        |text: &str| text.lines().filter(|line| !line.contains(".linchpin/state.db")).collect::<Vec<_>>().join("\n");
    assert_eq!((without_state_files(&before[0]), &before[1..]), (without_state_files(&after[0]), &after[1..]));
}

#[test]
fn a_run_is_resumed_with_the_changed_loop() {
    let project = with_loop(ONE_HAT_LOOP, r#""$LINCHPIN_BIN" emit again "$LINCHPIN_ITERATION""#);
    project.file(".linchpin/loop.yml", format!("{ONE_HAT_LOOP}limits: {{iterations: 2}}\n"));
    project.run(&["trust", "--yes"]);
    assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(4));
    // The agent published `again` before the file changed. So the topic does not complete the run, although the changed
    // file defines it as the completion.
    let renamed = "agent: {command: [sh, agent.sh]}\ncompletion: {topic: again}\nlimits: {iterations: 2}\n\
                   hats:\n  worker: {triggers: [task.start], publishes: [again]}\n";
    project.file(".linchpin/loop.yml", renamed);
    project.run(&["trust", "--yes"]);
    let reply = project.run(&["run", "--resume"]);
    assert_eq!(reply.code, Some(1), "{}", reply.transcript());
    // After another change of the file, a hat starts on the topic `again`, which was still waiting.
    project.file(".linchpin/loop.yml", format!("{ONE_HAT_LOOP}limits: {{iterations: 3}}\n"));
    project.run(&["trust", "--yes"]);
    let reply = project.run(&["run", "--resume"]);
    assert!(reply.stderr.contains("[r1 #3] hat `worker` starts on `again`"), "{}", reply.transcript());
}
