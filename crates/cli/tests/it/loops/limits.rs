//! Limits of a run, failing and idle agents, and stop requests.

use std::fs;

use super::*;

/// Runs a loop with these limits until the run ends. The loop's agent is the script.
fn run_with_limits(limits: &str, script: &str) -> (TestProject, ProcessOutput) {
    let project = with_loop(&format!("{ONE_HAT_LOOP}limits: {limits}\n"), script);
    let reply = project.run(&["run", "-p", "Do it"]);
    (project, reply)
}

fn last_lines(reply: &ProcessOutput) -> Vec<&str> {
    let lines: Vec<&str> = reply.stderr.lines().collect();
    lines[lines.len().saturating_sub(3)..].to_vec()
}

#[test]
fn a_run_without_any_hand_over_fails() {
    let (project, reply) = run_with_limits("{iterations: 50}", "cat > \"prompt-$LINCHPIN_ITERATION\"");
    insta::assert_snapshot!(run_output(&project, &reply));
    let last = fs::read_to_string(project.root().join("prompt-4")).expect("a prompt");
    assert!(last.contains("<event topic=\"system.resume\">"), "{last}");
    assert!(!project.root().join("prompt-5").exists());
}

#[test]
fn a_run_without_progress_is_explained() {
    let the_loop = format!(
        "{ONE_HAT_LOOP}gates: {{tests: {{command: [sh, tests.sh]}}}}\ntopics: {{again: {{requires: [tests]}}}}\nlimits: {{iterations: 50}}\n"
    );
    let project = with_loop(&the_loop, r#"cat > prompt; "$LINCHPIN_BIN" emit again > emit.log || true"#);
    project.file("tests.sh", "echo 'one failed'; echo 'two failed'; exit 1");
    let reply = project.run(&["run", "-p", "Do it"]);
    insta::assert_snapshot!(run_output(&project, &reply));
    let shown = project.run(&["runs", "show"]).stdout;
    let shown: Vec<&str> = shown.lines().filter(|line| !line.contains("output of the agents")).collect();
    insta::assert_snapshot!(without_durations(&shown.join("\n")));
    let prompt = fs::read_to_string(project.root().join("prompt")).expect("a prompt");
    insta::assert_snapshot!(without_durations(
        prompt.split("<event topic=\"system.resume\">").last().unwrap_or_default().trim()
    ));
    let status = project.run(&["status"]).stdout;
    assert!(
        status.contains("was refused, because a gate is not met: `tests`; `linchpin run --resume` resumes it\n"),
        "{status}"
    );
}

#[test]
fn iterations_are_limited() {
    let (_, reply) = run_with_limits("{iterations: 3, stale: none}", r#""$LINCHPIN_BIN" emit again"#);
    assert_eq!(reply.code, Some(4));
    assert!(last_lines(&reply)[0].ends_with("ended: the limit of 3 iterations is reached"), "{}", reply.transcript());
}

#[test]
fn activations_of_a_hat_are_limited() {
    let the_loop = ONE_HAT_LOOP.replace("triggers:", "max_activations: 2, triggers:");
    let project = with_loop(&the_loop, r#""$LINCHPIN_BIN" emit again "$LINCHPIN_ITERATION""#);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(4));
    assert!(reply.stderr.contains("the hat `worker` ran 2 times, which is its limit"), "{}", reply.transcript());
}

#[test]
fn the_time_of_a_run_is_limited() {
    let (project, reply) = run_with_limits("{runtime: 1s}", &format!("touch begun; ({HANG}) & wait"));
    assert_eq!(reply.code, Some(4), "{}", reply.transcript());
    assert!(reply.stderr.contains("ended: the limit of 1s is reached"), "{}", reply.transcript());
    assert!(project.root().join("begun").exists());
    // The time before the run was resumed still counts.
    let resumed = project.run(&["run", "--resume"]);
    assert_eq!(resumed.code, Some(4), "{}", resumed.transcript());
}

#[test]
fn tokens_are_limited() {
    let script = r#"
        usage='{"input_tokens":600,"output_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}'
        printf '{"type":"assistant","timestamp":"%s","requestId":"q%s","message":{"id":"m%s","model":"m","usage":%s}}\n' \
            "$(date -u +%FT%T.999Z)" "$LINCHPIN_ITERATION" "$LINCHPIN_ITERATION" "$usage" > "$PWD/transcript-$LINCHPIN_ITERATION.jsonl"
        printf '{"hook_event_name":"UserPromptSubmit","session_id":"s%s","cwd":"%s","prompt":"x","transcript_path":"%s"}' \
            "$LINCHPIN_ITERATION" "$PWD" "$PWD/transcript-$LINCHPIN_ITERATION.jsonl" | "$LINCHPIN_BIN" hook claude
        "$LINCHPIN_BIN" emit again "$LINCHPIN_ITERATION"
    "#;
    let (_, reply) = run_with_limits("{tokens: 1000}", script);
    assert_eq!(reply.code, Some(4), "{}", reply.transcript());
    assert!(reply.stderr.contains("the limit of 1000 tokens is reached (1220 used)"), "{}", reply.transcript());
}

#[test]
fn tokens_in_the_agents_output_are_limited() {
    let script = r#"
        echo '{"type":"turn.completed","usage":{"input_tokens":600,"cached_input_tokens":500,"output_tokens":10}}'
        "$LINCHPIN_BIN" emit again "$LINCHPIN_ITERATION" > emit.log
    "#;
    let (_, reply) = run_with_limits("{tokens: 1000}", script);
    assert_eq!(reply.code, Some(4), "{}", reply.transcript());
    assert!(reply.stderr.contains("the limit of 1000 tokens is reached (1220 used)"), "{}", reply.transcript());
}

#[test]
fn a_loop_without_an_effective_limit_is_not_run() {
    let project = project();
    let limits = "limits: {iterations: none, runtime: none, tokens: 1M, cost_usd: 5}";
    project.file(".linchpin/loop.yml", format!("{ONE_HAT_LOOP}{limits}\n"));
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(2), "{}", reply.transcript());
    let validated = project.run(&["hats", "validate"]).stdout;
    assert!(validated.contains("`worker` hands over to itself without end"), "{validated}");
}

#[test]
fn cost_in_the_agents_output_is_limited() {
    let the_loop = ONE_HAT_LOOP.replace("{command: [sh, agent.sh]}", "claude") + "limits: {cost_usd: 0.3}\n";
    let project = with_loop(&the_loop, "");
    project.run(&["install", "claude", "--user"]);
    let script = "#!/bin/sh\n\"$LINCHPIN_BIN\" emit again \"$LINCHPIN_ITERATION\" >/dev/null\n\
         echo '{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Hello\"}]}}'\n\
         echo '{\"type\":\"result\",\"total_cost_usd\":0.2}'\n";
    let program = project.home().join("claude");
    fs::write(&program, script).expect("a program");
    #[cfg(unix)]
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("its mode");
    let mut command = project.command(&["run", "-p", "Do it"]);
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path).unwrap_or_default();
    let path = format!("{}:{}", project.home().display(), path.to_string_lossy());
    command.env("PATH", path);
    let reply = project.run_with_stdin(command, b"");
    assert_eq!(reply.code, Some(4), "{}", reply.transcript());
    assert_eq!(reply.stdout, "Hello\nHello\n");
    assert!(reply.stderr.contains("the limit of $0.3 is reached ($0.40 spent)"), "{}", reply.transcript());
}

#[test]
fn a_repeated_summary_without_changes_ends_the_run() {
    let (_, reply) = run_with_limits("{stale: 3}", r#""$LINCHPIN_BIN" emit again 'Trying.'"#);
    assert_eq!(reply.code, Some(1));
    assert!(
        reply.stderr.contains("`again` was published 3 times with the same summary, and nothing in the tree changed"),
        "{}",
        reply.transcript()
    );
    // If the working tree changes between them, repeated summaries do not end the run.
    let (_, reply) =
        run_with_limits("{stale: 3, iterations: 5}", r#"echo x >> work; "$LINCHPIN_BIN" emit again 'Trying.'"#);
    assert_eq!(reply.code, Some(4), "{}", reply.transcript());
}

#[test]
fn repeated_agent_failures_end_the_run() {
    let (project, reply) = run_with_limits("{failures: 2}", "echo 'no compiler' >&2; exit 3");
    insta::assert_snapshot!(run_output(&project, &reply));
    // An agent that a signal kills has failed, too. A successful iteration resets the count of failures.
    let script = r#"test "$LINCHPIN_ITERATION" = 2 && { "$LINCHPIN_BIN" emit again; exit; }; kill -9 $$"#;
    let (_, reply) = run_with_limits("{failures: 2}", script);
    assert_eq!(reply.code, Some(1), "{}", reply.transcript());
    assert!(reply.stderr.contains("[r1 #4]") && !reply.stderr.contains("[r1 #5]"), "{}", reply.transcript());
    assert!(reply.stderr.contains("was killed by signal 9"), "{}", reply.transcript());
}

#[test]
fn an_agent_that_ends_with_a_refused_hand_over_names_the_gate() {
    let the_loop = format!(
        "{ONE_HAT_LOOP}limits: {{failures: 2}}\ngates: {{g: {{command: ['false']}}}}\ncompletion: {{requires: [g]}}\n"
    );
    let project = with_loop(&the_loop, r#"cat > .git/prompt; "$LINCHPIN_BIN" emit loop.complete > .git/emit.log"#);
    let reply = project.run(&["run", "-p", "Do it"]);
    insta::assert_snapshot!(run_output(&project, &reply), @"
    running `false`
    running `false`
    ---
    [r1] starts; `linchpin runs show r1` shows its progress
    [r1 #1] hat `worker` starts on `task.start`; 0 iterations so far
    [r1] hat `worker`: its agent ended with exit code 1; its last attempt: `loop.complete` was refused, because a gate is not met: `g`
    [r1 #2] hat `worker` starts on `task.start`; 1 iteration so far
    [r1] hat `worker`: its agent ended with exit code 1; its last attempt: `loop.complete` was refused, because a gate is not met: `g`
    [r1] failed: agents failed 2 times in a row; the last one ended with exit code 1; its last attempt: `loop.complete` was refused, because a gate is not met: `g`
        - g: `false` failed with exit code 1
    [r1] spent 2 iterations
    [r1] `linchpin run --resume r1` resumes it
    [r1] output of the agents: [BASE]/state/linchpin/projects/[ID]/runs/r1
    exit 1
    ");
    let prompt = fs::read_to_string(project.root().join(".git/prompt")).expect("a prompt");
    assert!(
        prompt.contains("> its agent ended with exit code 1; its last attempt: `loop.complete` was refused, because a gate is not met: `g`"),
        "{prompt}"
    );
}

#[test]
fn a_hand_over_counts_even_if_the_agent_then_fails() {
    let (_, reply) = run_with_limits("{failures: 1}", r#""$LINCHPIN_BIN" emit loop.complete; exit 1"#);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn an_idle_agent_is_killed_with_its_processes() {
    let (project, reply) = run_with_limits("{idle: 1s, failures: 1}", &format!("({HANG}) & echo $! > child; wait"));
    assert_eq!(reply.code, Some(1));
    let message = "its agent printed nothing and did not call Linchpin for 1s, so it was killed";
    assert!(reply.stderr.contains(message), "{}", reply.transcript());
    let child = fs::read_to_string(project.root().join("child")).expect("a number");
    assert!(processes::wait_for_end(child.trim()));
}

#[test]
fn an_agent_that_reports_progress_is_not_idle() {
    let script = r#"for turn in 1 2 3 4 5 6; do sleep 1; "$LINCHPIN_BIN" progress "$turn" > emit.log; done; exec "$LINCHPIN_BIN" emit loop.complete"#;
    let (_, reply) = run_with_limits("{idle: 5s, failures: 1}", script);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn an_agent_that_calls_linchpin_is_not_idle() {
    // Each `sleep` is shorter than the idle limit. All of them together are longer.
    let script = r#"
        for turn in 1 2 3; do
            sleep 1; "$LINCHPIN_BIN" memory search nothing > emit.log
            sleep 1; printf '{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"%s","prompt":"x"}' "$PWD" |
                "$LINCHPIN_BIN" hook claude > emit.log
        done
        exec "$LINCHPIN_BIN" emit loop.complete
    "#;
    let (_, reply) = run_with_limits("{idle: 5s, failures: 1}", script);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn an_agent_whose_gate_runs_is_not_idle() {
    let the_loop = format!(
        "{ONE_HAT_LOOP}limits: {{idle: 5s, failures: 1}}\ngates: {{slow: {{command: [sleep, '7']}}}}\ncompletion: {{requires: [slow]}}\n"
    );
    let project = with_loop(&the_loop, r#"exec "$LINCHPIN_BIN" emit loop.complete > emit.log"#);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

/// A shell function that calls the hook for an event of a shell call. Its arguments: the event's name, and more fields.
const HOOK_FUNCTION: &str = r#"hook() {
    printf '{"hook_event_name":"%s","session_id":"s","cwd":"%s","tool_name":"Bash","tool_use_id":"c",%s}' "$1" "$PWD" "$2" |
        "$LINCHPIN_BIN" hook claude > emit.log
}"#;

#[test]
fn an_agent_whose_tool_call_is_open_is_not_idle() {
    let script = format!(
        r#"
        {HOOK_FUNCTION}
        hook PreToolUse '"tool_input":{{"command":"make test"}}'
        sleep 4; touch built
        hook PostToolUse '"tool_input":{{"command":"make test"}},"tool_response":{{"stdout":"","stderr":""}}'
        {HANG}
        "#
    );
    let (project, reply) = run_with_limits("{idle: 2s, failures: 1}", &script);
    assert!(project.root().join("built").exists(), "{}", reply.transcript());
    // After the end of the tool call, idle time counts again.
    assert!(reply.stderr.contains("did not call Linchpin for 2s, so it was killed"), "{}", reply.transcript());
}

#[test]
fn an_agent_is_not_idle_right_after_a_long_tool_call() {
    // The tool calls end shortly before and after multiples of the idle time.
    for seconds in ["1.9", "1.95", "2.0"] {
        let script = format!(
            r#"
            {HOOK_FUNCTION}
            hook PreToolUse '"tool_input":{{"command":"make test"}}'
            sleep {seconds}
            hook PostToolUse '"tool_input":{{"command":"make test"}},"tool_response":{{"stdout":"","stderr":""}}'
            sleep 0.5
            "$LINCHPIN_BIN" emit loop.complete
            "#
        );
        let (_, reply) = run_with_limits("{idle: 1s, failures: 1}", &script);
        assert_eq!(reply.code, Some(0), "{seconds}: {}", reply.transcript());
    }
}

#[test]
fn progress_is_passed_to_progress_command() {
    let project = project();
    project.config("progress_command: sh told.sh\n").file("told.sh", "cat > told");
    let script = r#""$LINCHPIN_BIN" progress 'halfway there'; while ! test -s told; do sleep 0.02; done; "$LINCHPIN_BIN" emit loop.complete"#;
    let project = with_loop_in(project, &format!("{ONE_HAT_LOOP}limits: {{idle: 30s, failures: 1}}\n"), script);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    assert_eq!(fs::read_to_string(project.root().join("told")).expect("the message"), "halfway there");
}

#[test]
fn without_git_a_run_is_never_stale() {
    let project = project();
    project.file(".linchpin/loop.yml", format!("{ONE_HAT_LOOP}limits: {{iterations: 5}}\n"));
    project.file("agent.sh", r#""$LINCHPIN_BIN" emit again same"#);
    project.run(&["trust", "--yes"]);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(4), "{}", reply.transcript());
}

#[test]
fn a_named_pipe_as_scratchpad_does_not_block() {
    let project = with_loop(ONE_HAT_LOOP, r#""$LINCHPIN_BIN" emit loop.complete"#);
    fs::create_dir_all(project.root().join(".linchpin/agent")).expect("a directory");
    let pipe = project.root().join(".linchpin/agent/scratchpad.md");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
    assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(0));
}

#[test]
fn very_long_output_does_not_end_the_run() {
    let (project, reply) = run_with_limits(
        "{iterations: 2}",
        r#"head -c 30000000 /dev/zero | tr '\0' x; "$LINCHPIN_BIN" emit loop.complete"#,
    );
    assert_eq!(reply.code, Some(0));
    assert!(reply.stdout.len() > 30_000_000);
    let projects = fs::read_dir(project.state().join("projects")).expect("a directory").flatten();
    let logs: Vec<u64> = projects
        .filter_map(|project| fs::metadata(project.path().join("runs/r1/1.log")).ok())
        .map(|log| log.len())
        .collect();
    assert!(matches!(logs.as_slice(), [10_000_000..11_000_000]), "{logs:?}");
}

#[test]
fn an_agent_without_quota_or_sign_in_ends_the_run_at_once() {
    let (_, reply) = run_with_limits("{failures: 9}", "echo 'Claude AI usage limit reached|1760000000' >&2; exit 1");
    assert_eq!(reply.code, Some(1));
    assert!(
        reply.stderr.contains("failed: sh agent.sh cannot continue: its quota is used up"),
        "{}",
        reply.transcript()
    );
    let (_, reply) = run_with_limits("{failures: 9}", "echo 'Invalid API key · Please run /login'; exit 1");
    assert!(reply.stderr.contains("it is not signed in"), "{}", reply.transcript());
    // The output `usage limit reached` does not end the run if the agent succeeds.
    let (_, reply) =
        run_with_limits("{failures: 9}", r#"echo 'usage limit reached'; "$LINCHPIN_BIN" emit loop.complete"#);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn a_missing_agent_ends_the_run() {
    let project = with_loop(&ONE_HAT_LOOP.replace("[sh, agent.sh]", "[no-such-agent]"), "");
    let reply = project.run(&["run", "-p", "Do it"]);
    assert!(reply.stdout.ends_with('\n'), "{}", reply.transcript());
    insta::assert_snapshot!(run_output(&project, &reply));
}

#[test]
fn a_topic_that_no_hat_handles_ends_the_run() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete, aside]}
";
    let project = with_loop(the_loop, r#""$LINCHPIN_BIN" emit aside"#);
    let reply = project.run(&["run", "-p", "Do it"]);
    insta::assert_snapshot!(run_output(&project, &reply));
}

#[test]
fn a_person_stops_a_run_after_its_iteration_or_at_once() {
    let script =
        r#"touch begun; while ! test -f go; do sleep 0.02; done; "$LINCHPIN_BIN" emit again "$LINCHPIN_ITERATION""#;
    let project = with_loop(ONE_HAT_LOOP, script);
    let run = spawn(&project, &["run", "-p", "Do it"]);
    wait_for(&project.root().join("begun"));
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("Run     r1 going on, #1 hat `worker` on `task.start`\n"), "{status}");
    let reply = project.run(&["stop"]);
    insta::assert_snapshot!(reply.transcript());
    project.file("go", "");
    let ended = run.wait_with_output().expect("its end");
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{stderr}");
    let status = project.run(&["status"]).stdout;
    assert!(
        status.contains("Run     r1 stopped: a person stopped it; `linchpin run --resume` resumes it\n"),
        "{status}"
    );
    assert!(
        stderr.contains("[r1] hat `worker` published `again`") && stderr.contains("stopped: a person stopped it"),
        "{stderr}"
    );

    fs::remove_file(project.root().join("go")).expect("removed");
    fs::remove_file(project.root().join("begun")).expect("removed");
    let run = spawn(&project, &["run", "--resume", "r1"]);
    wait_for(&project.root().join("begun"));
    let reply = project.run(&["runs", "stop", "r1"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    let ended = run.wait_with_output().expect("its end");
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("stopped: a person stopped it") && !stderr.contains("published `again`"), "{stderr}");
    assert_eq!(project.run(&["stop"]).code, Some(2), "no run is active");
    assert_eq!(project.run(&["runs", "stop", "r1"]).code, Some(2));
    assert_eq!(project.run(&["stop", "--run", "nonsense"]).code, Some(2));
}

#[test]
#[cfg(unix)]
fn an_interrupt_kills_the_agent_and_its_processes() {
    let project = with_loop(ONE_HAT_LOOP, &format!("({HANG}) & echo $! > child; touch begun; wait"));
    let run = spawn(&project, &["run", "-p", "Do it"]);
    wait_for(&project.root().join("begun"));
    signal(&run, "-INT");
    let ended = run.wait_with_output().expect("its end");
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted: by Ctrl-C or a signal"), "{stderr}");
    assert!(stderr.contains("`linchpin run --resume r1` resumes it"), "{stderr}");
    let child = fs::read_to_string(project.root().join("child")).expect("a number");
    assert!(processes::wait_for_end(child.trim()));
}
