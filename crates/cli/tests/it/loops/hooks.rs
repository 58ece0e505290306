//! The restrictions of hats, enforced by hooks.

use serde_json::json;

use super::*;

/// A scripted agent that calls hooks: `hook NAME JSON` prints the decision.
const HOOK: &str = r#"
hook() {
    printf '{"hook_event_name":"%s","session_id":"s%s","cwd":"%s","transcript_path":"",%s}' "$1" "$LINCHPIN_ITERATION" "$PWD" "$2" |
        "$LINCHPIN_BIN" hook claude
    echo
}
write() { hook PreToolUse "\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$PWD/$1\",\"content\":\"x\"}"; }
shell() { hook PreToolUse "\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"$1\"}"; }
stop() { hook Stop "\"stop_hook_active\":$1"; }
"#;

fn run_with_hooks(the_loop: &str, script: &str) -> (TestProject, ProcessOutput) {
    let project = with_loop(the_loop, &format!("{HOOK}{script}"));
    let reply = project.run(&["run", "-p", "Do it"]);
    (project, reply)
}

#[test]
fn a_hat_writes_only_to_its_allowed_paths() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete], writes: ['src/**'], rules: [{command_pattern: '^cargo publish', reason: Not this hat.}]}
";
    let script = r#"
        write src/a.rs; write docs/a.md; write .linchpin/agent/scratchpad.md
        shell 'echo 1 > docs/a.md'; shell 'echo 1 > src/b.rs'; shell 'cargo publish'
        "$LINCHPIN_BIN" emit loop.complete
    "#;
    let (project, reply) = run_with_hooks(the_loop, script);
    insta::assert_snapshot!(run_output(&project, &reply));
    // The hat's restrictions do not apply to other sessions in the same tree.
    assert_eq!(project.decision("cargo publish"), "allow");
}

#[test]
fn a_hat_cannot_write_files_that_its_gates_run() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
gates: {checked: {command: [sh, check.sh, built]}}
completion: {requires: [checked]}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete]}
";
    let script = r#"
        write check.sh; shell 'echo exit > ./check.sh'; shell 'mv check.sh elsewhere'
        echo allowed:
        write built; write src/check.sh; shell 'sh check.sh'
        "$LINCHPIN_BIN" emit loop.complete
    "#;
    let project = project();
    project.file("check.sh", "exit 0");
    let project = with_loop_in(project, the_loop, &format!("{HOOK}{script}"));
    let reply = project.run(&["run", "-p", "Do it"]);
    let (refused, allowed) = reply.stdout.split_once("allowed:").expect("both");
    let denials = |text: &str| text.matches("rule `loop/worker/gate-files`").count();
    assert_eq!((denials(refused), denials(allowed)), (3, 0), "{}", reply.transcript());
    assert!(!allowed.contains("deny"), "{}", reply.transcript());
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    // Other sessions in the same tree are allowed to change the files that the gate runs.
    assert_eq!(project.decision("echo exit > check.sh"), "allow");
}

#[test]
#[cfg(unix)]
fn a_hat_cannot_write_files_that_its_gates_run_through_a_symlink() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
completion: {requires: [{command: [sh, link.sh]}, {command: [sh, tools/check.sh]}]}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete]}
";
    let script = r#"
        write real.sh; shell 'echo exit 0 > real.sh'; write link.sh; shell 'rm link.sh'
        write scripts/check.sh; write tools/check.sh
        "$LINCHPIN_BIN" emit loop.complete
    "#;
    let project = project();
    project.file("real.sh", "exit 0").file("scripts/check.sh", "exit 0");
    for (target, symlink) in [("real.sh", "link.sh"), ("scripts", "tools")] {
        std::os::unix::fs::symlink(target, project.root().join(symlink)).expect("a symlink");
    }
    let project = with_loop_in(project, the_loop, &format!("{HOOK}{script}"));
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.stdout.matches("rule `loop/worker/gate-files`").count(), 6, "{}", reply.transcript());
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn nothing_is_written_after_the_hand_over() {
    let script = r#"
        write a.rs; shell 'touch b'
        "$LINCHPIN_BIN" emit loop.complete
        write a.rs; shell 'touch b'; shell 'ls'; shell '$LINCHPIN_BIN memory search x'
    "#;
    let (project, reply) = run_with_hooks(ONE_HAT_LOOP, script);
    insta::assert_snapshot!(run_output(&project, &reply));
}

#[test]
fn a_stop_without_a_hand_over_is_held_up_to_max_holds() {
    let script = r#"
        stop false; stop true; stop true; stop true; stop true
        "$LINCHPIN_BIN" emit loop.complete
        stop false
    "#;
    let (project, reply) = run_with_hooks(ONE_HAT_LOOP, script);
    insta::assert_snapshot!(run_output(&project, &reply));
}

#[test]
fn a_started_task_must_be_ended_before_the_stop() {
    let script = r#"
        "$LINCHPIN_BIN" task start t1
        "$LINCHPIN_BIN" emit loop.complete
        stop false
        "$LINCHPIN_BIN" task fail t1
        stop true
    "#;
    let project = with_loop(ONE_HAT_LOOP, &format!("{HOOK}{script}"));
    project.run(&["task", "add", "Write it down"]);
    let reply = project.run(&["run", "-p", "Do it"]);
    insta::assert_snapshot!(run_output(&project, &reply));
}

#[test]
fn a_task_is_closed_only_if_its_gates_pass() {
    let the_loop =
        format!("{ONE_HAT_LOOP}gates: {{built: {{command: [test, -f, built]}}}}\ntasks: {{close_requires: [built]}}\n");
    let script = r#"
        exec 2>&1
        "$LINCHPIN_BIN" task start t1; "$LINCHPIN_BIN" task close t1; echo "$?"
        touch built; "$LINCHPIN_BIN" task close t1; echo "$?"
        "$LINCHPIN_BIN" emit loop.complete
    "#;
    let project = with_loop(&the_loop, script);
    project.run(&["task", "add", "Build it"]);
    let reply = project.run(&["run", "-p", "Do it"]);
    insta::assert_snapshot!(run_output(&project, &reply));
}

#[test]
fn prompts_show_ready_tasks_and_memories() {
    let project = with_loop(ONE_HAT_LOOP, r#"cat > prompt; "$LINCHPIN_BIN" emit loop.complete"#);
    for number in 1..=22 {
        project.run(&["task", "add", &format!("Task {number}")]);
    }
    project.run(&["task", "add", "Waits", "--blocked-by", "t1"]);
    project.run(&["memory", "add", "--type", "fix", "The parser needs a bigger stack: ulimit -s 16384"]);
    project.run(&["memory", "add", "--type", "decision", "Colours are named in English"]);
    let reply = project.run(&["run", "-p", "Mend the parser"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    let prompt = std::fs::read_to_string(project.root().join("prompt")).expect("a prompt");
    assert!(
        prompt.contains("> t20 (priority 3) Task 20\nand 2 more: `linchpin task ready`\n</ready-tasks>"),
        "{prompt}"
    );
    assert!(!prompt.contains("Waits"), "{prompt}");
    assert!(prompt.contains("<memories>\n> m1 (fix) The parser needs"), "{prompt}");
    assert!(!prompt.contains("Colours"), "{prompt}");
}

#[test]
fn editing_the_loop_file_does_not_change_the_run() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete], writes: ['src/**']}
";
    let script = r#"
        sed -i 's/src/docs/' .linchpin/loop.yml
        write docs/a.md
        "$LINCHPIN_BIN" emit loop.complete
    "#;
    let (project, reply) = run_with_hooks(the_loop, script);
    assert!(reply.stdout.contains("\"deny\""), "{}", reply.transcript());
    assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(2), "the changed file was not accepted");
}

#[test]
fn expressions_see_the_run() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
topics: {again: {requires: [\"loop.iteration == 1 and loop.hat == 'worker' and phase.name == 'worker'\"]}}
hats:
  worker: {triggers: [task.start, again], publishes: [loop.complete, again]}
";
    let script = r#"
        shell 'one'; shell 'two'
        "$LINCHPIN_BIN" emit again || "$LINCHPIN_BIN" emit loop.complete
    "#;
    let project = with_loop(the_loop, &format!("{HOOK}{script}"));
    project.rule("one", "---\ncommand_pattern: '^one'\nwhen: loop.active and loop.iteration == 2 and 'again' in loop.topics\n---\nOnce.\n");
    project.rule(
        "two",
        "---\ncommand_pattern: '^two'\nwhen: not loop.active or loop.elapsed > 1000 or loop.tokens > 0\n---\nNever.\n",
    );
    let reply = project.run(&["run", "-p", "Do it"]);
    insta::assert_snapshot!(run_output(&project, &reply));
    assert_eq!((project.decision("one").as_str(), project.decision("two").as_str()), ("allow", "deny"));
}

#[test]
fn a_person_asks_a_session_to_stop() {
    let project = project();
    assert_eq!(project.run(&["stop", "--session", "s-1"]).code, Some(1), "there is no session yet");
    project.rule("stop", "---\ncommand_pattern: '^work'\nwhen: has_stop_signal()\n---\nA person asked you to stop.\n");
    project.rule("other", "---\ncommand_pattern: '^other'\nwhen: has_stop_signal('elsewhere')\n---\nNo.\n");
    let payload = |command: &str| {
        let mut payload = project.bash_payload(command);
        payload["session_id"] = json!("s-1");
        payload
    };
    assert_eq!(project.hook("claude", &payload("work")).decision(), "allow");
    insta::assert_snapshot!(project.run(&["stop", "--session", "s-1"]).transcript());
    assert_eq!(project.hook("claude", &payload("work")).decision(), "deny");
    assert_eq!(project.hook("claude", &payload("other")).decision(), "allow");
    insta::assert_snapshot!(project.run(&["stop", "--session", "elsewhere"]).transcript());
    assert_eq!(project.hook("claude", &payload("other")).decision(), "allow");
    let mut elsewhere = payload("ls");
    elsewhere["session_id"] = json!("elsewhere");
    project.hook("claude", &elsewhere);
    assert_eq!(project.run(&["stop", "--session", "elsewhere"]).code, Some(0));
    assert_eq!(project.hook("claude", &payload("other")).decision(), "deny");
}

#[test]
fn a_stop_request_is_withdrawn_by_resume_or_a_prompt() {
    let project = project();
    project.rule("stop", "---\ncommand_pattern: '^work'\nwhen: has_stop_signal()\n---\nA person asked you to stop.\n");
    let work = || project.hook("claude", &project.bash_payload("work")).decision();
    assert_eq!(work(), "allow");
    let session = "session-1";
    // `linchpin resume` withdraws the stop request.
    project.run(&["stop", "--session", session]);
    assert_eq!(work(), "deny");
    insta::assert_snapshot!(project.run(&["resume", "--session", session]).transcript(), @"
    exit 0
    --- stdout
    Session session-1 may continue.
    --- stderr
    ");
    assert_eq!(work(), "allow");
    insta::assert_snapshot!(project.run(&["resume", "--session", session]).transcript(), @r"
    exit 0
    --- stdout
    Session session-1 was not asked to stop.
    --- stderr
    ");
    let mut by_agent = project.command(&["resume", "--session", session]);
    by_agent.env("CLAUDECODE", "1");
    assert_eq!(project.run_with_stdin(by_agent, b"").code, Some(2), "agents may not resume");
    // The next prompt after the stop request withdraws it, too. A prompt before the stop request has no effect.
    let prompt = || project.hook("claude", &project.event_payload("UserPromptSubmit", &json!({ "prompt": "Go on" })));
    prompt();
    project.run(&["stop", "--session", session]);
    assert_eq!(work(), "deny");
    prompt();
    assert_eq!(work(), "allow");
    insta::assert_snapshot!(project.run(&["resume", "--session", session]).transcript(), @"
    exit 0
    --- stdout
    Session session-1 is already running again: a person's prompt withdrew the request to stop.
    --- stderr
    ");
    project.run(&["stop", "--session", session]);
    assert_eq!(work(), "deny", "asked again");
    insta::assert_snapshot!(project.run(&["resume", "--session", "typo"]).transcript(), @"
    exit 1
    --- stdout
    --- stderr
    error: there is no session `typo` here
    help: `linchpin log --json` shows the session of each event
    ");
}

#[test]
fn a_person_is_asked_if_the_file_with_the_hats_rules_is_missing() {
    let script = r#"
        rm -f "$XDG_STATE_HOME"/linchpin/projects/*/runs/r1.json "$HOME"/.local/state/linchpin/projects/*/runs/r1.json
        write a.rs; LINCHPIN_RUN_ROOT=/elsewhere write a.rs
    "#;
    let (_, reply) = run_with_hooks(&format!("{ONE_HAT_LOOP}limits: {{iterations: 1}}\n"), script);
    let lines: Vec<&str> = reply.stdout.lines().collect();
    assert!(lines[0].contains("the rules of its hat cannot be read"), "{}", reply.transcript());
    assert_eq!(lines.get(1).copied().unwrap_or_default(), "", "{}", reply.transcript());
}

#[test]
fn rules_of_a_hat_are_enforced_without_the_journal() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
limits: {iterations: 1}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete], writes: ['src/**']}
";
    let (_, reply) = run_with_hooks(the_loop, "rm -f .linchpin/state.db*; write docs/a.md");
    assert!(reply.stdout.contains("loop/worker/writes"), "{}", reply.transcript());
}

/// A session outside of the run works in the same tree at the same time as the hat.
#[test]
fn a_session_outside_of_the_run_neither_opens_nor_closes_a_gate() {
    let the_loop = format!("{ONE_HAT_LOOP}completion: {{requires: [tested]}}\nlimits: {{iterations: 1}}\n");
    let outsider = r#"
call() {
    for event in PreToolUse PostToolUse; do
        printf '{"hook_event_name":"%s","session_id":"%s","cwd":"%s","transcript_path":"","tool_name":"Bash","tool_use_id":"%s","tool_input":{"command":"%s"},"tool_response":{}}' \
            $event "$1" "$PWD" "$1" "$2" | $3 "$LINCHPIN_BIN" hook claude
    done
}
outside() { call outsider "$1" "env -u LINCHPIN_RUN"; }
"#;
    for (calls, code) in [
        ("outside 'make test'", 4),
        ("call own ls; outside 'make test'", 4),
        ("call own 'make test'; outside ls", 0),
        ("call own 'make test'; call second ls", 4),
    ] {
        let project = project();
        project.config(
            "variables: {tested: false}\nobservers: [{name: t, on: after_tool, match: {command_pattern: '^make test'}, set: \
             {tested: true}}]\n",
        );
        let script = format!("{outsider}{calls}; \"$LINCHPIN_BIN\" emit loop.complete; exit 0");
        let project = with_loop_in(project, &the_loop, &script);
        let reply = project.run(&["run", "-p", "Do it"]);
        assert_eq!(reply.code, Some(code), "{calls}: {}", reply.transcript());
    }
}

#[test]
fn a_task_that_a_hat_starts_is_claimed_by_its_session() {
    let project = project();
    project.config("observers: [{name: claims, behavior: task_claim_tracking}]\n");
    project.rule("claim", "---\ntools: [Write]\nwhen: not task_claimed\n---\nClaim a task first.\n");
    let script = r#"
        "$LINCHPIN_BIN" task add "Write a" > task
        write src/a.rs > before
        shell 'linchpin task start t1'
        "$LINCHPIN_BIN" task start t1
        write src/a.rs > after
        "$LINCHPIN_BIN" task close t1
        "$LINCHPIN_BIN" emit loop.complete
    "#;
    let project = with_loop_in(project, ONE_HAT_LOOP, &format!("{HOOK}{script}"));
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    let output = |file: &str| std::fs::read_to_string(project.root().join(file)).expect("an output");
    assert!(output("before").contains("Claim a task first"), "{}", output("before"));
    assert_eq!(output("after").trim(), "");
}
