//! Gates that are checked when a hat hands over its work: file rules, commands, and changes to the files that the
//! commands run.

use super::*;

#[test]
fn file_rule_gates_check_the_changes_of_the_hat() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
gates: {tested: {file_rules: [tests-with-code]}}
topics: {build.done: {requires: [tested]}}
hats:
  builder: {triggers: [task.start], publishes: [build.done]}
  reviewer: {triggers: [build.done], publishes: [loop.complete]}
";
    let script = r#"
        case $LINCHPIN_HAT in
            builder) mkdir src; echo 1 > src/code.c; "$LINCHPIN_BIN" emit build.done early; echo 1 > src/test.c
                     "$LINCHPIN_BIN" emit build.done late;;
            reviewer) "$LINCHPIN_BIN" emit loop.complete;;
        esac
    "#;
    let project = project();
    project.rule("tests-with-code", "---\nset: ['{path}/code.c', '{path}/test.c']\n---\nThey change together.\n");
    let project = with_loop_in(project, the_loop, script);
    // Changes from before the hat's iteration do not count for the hat's gate, whatever baseline the rule has.
    project.file("other/code.c", "2\n");
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    assert!(reply.stdout.contains("tests-with-code"), "{}", reply.transcript());
}

#[test]
fn a_restart_does_not_open_a_gate_of_file_rules() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
completion: {requires: [{file_rules: [pairs]}]}
limits: {iterations: 2}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete]}
";
    for first in [
        r#""$LINCHPIN_BIN" emit loop.complete"#,
        r#"git add src; git commit --quiet -m code; "$LINCHPIN_BIN" emit loop.complete"#,
        ":",
    ] {
        let script = format!(
            r#"
            case $LINCHPIN_ITERATION in
                1) mkdir src; echo 1 > src/code.c; {first};;
                4) echo 1 > src/test.c; "$LINCHPIN_BIN" emit loop.complete;;
                *) "$LINCHPIN_BIN" emit loop.complete;;
            esac
            exit 0
            "#
        );
        let project = project();
        project.rule("pairs", "---\nset: ['{path}/code.c', '{path}/test.c']\n---\nThey change together.\n");
        let project = with_loop_in(project, the_loop, &script);
        let reply = project.run(&["run", "-p", "Do it"]);
        assert_eq!(reply.code, Some(4), "{first}: {}", reply.transcript());
        // Resuming the run does not open the gate either.
        for (iterations, code) in [("3", 4), ("4", 0)] {
            let raised = the_loop.replace("iterations: 2", &format!("iterations: {iterations}"));
            project.file(".linchpin/loop.yml", raised);
            project.run(&["trust", "--yes"]);
            let reply = project.run(&["run", "--resume"]);
            assert_eq!(reply.code, Some(code), "{first}: {}", reply.transcript());
        }
    }
}

#[test]
fn a_file_rule_that_does_not_apply_is_acknowledged_in_the_run() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
gates: {tested: {file_rules: [tests-with-code]}}
completion: {requires: [tested]}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete]}
";
    let script = r#"
        echo 1 > code.c; "$LINCHPIN_BIN" emit loop.complete early
        "$LINCHPIN_BIN" ack tests-with-code --reason 'nothing to test'
        "$LINCHPIN_BIN" emit loop.complete late
    "#;
    let project = project();
    project.rule("tests-with-code", "---\nset: ['code.c', 'test.c']\n---\nThey change together.\n");
    let project = with_loop_in(project, the_loop, script);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    assert!(reply.stdout.contains("Acknowledged `tests-with-code` for 1 file."), "{}", reply.transcript());
}

#[test]
fn gates_use_the_path_variable_of_the_run() {
    let the_loop = "
agent: {command: [sh, agent.sh]}
gates: {built: {command: [make-check]}}
completion: {requires: [built]}
limits: {iterations: 1}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete]}
";
    let script = r#"
        printf '#!/bin/sh\nexit 0\n' > make-check; chmod +x make-check
        PATH="$PWD:$PATH" "$LINCHPIN_BIN" emit loop.complete
    "#;
    let project = with_loop(the_loop, script);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(4), "{}", reply.transcript());
}

const CHECKED: &str = "
agent: {command: [sh, agent.sh]}
gates: {checked: {command: [sh, ./check.sh]}}
completion: {requires: [checked]}
limits: {iterations: 1}
hats:
  worker: {triggers: [task.start], publishes: [loop.complete]}
";

#[test]
fn a_gate_with_a_changed_script_stays_closed_until_a_person_accepts_it() {
    let script = r#"
        echo 'exit 0' > check.sh
        exec "$LINCHPIN_BIN" emit loop.complete
    "#;
    let project = project();
    project.file("check.sh", "test -f built");
    let project = with_loop_in(project, CHECKED, script);
    let reply = project.run(&["run", "-p", "Do it"]);
    let emit_output = reply.stdout.replace(|letter: char| letter.is_ascii_digit(), "7");
    insta::assert_snapshot!(emit_output.lines().take(4).collect::<Vec<_>>().join("\n"), @"
    `loop.complete` was refused: its gates are not met.

    - checked: this gate's command runs files that changed since the run began: `check.sh` (now 77d7b7e777a7)
    Restore the files, for example with `git checkout -- check.sh`, or ask a person to accept the change: `linchpin approve checked`
    ");
    assert_eq!(reply.code, Some(4), "{}", reply.transcript());
    // The files that a gate runs are compared with the start of the run, however often the run is resumed.
    project.file(".linchpin/loop.yml", CHECKED.replace("iterations: 1", "iterations: 2"));
    project.run(&["trust", "--yes"]);
    assert_eq!(project.run(&["run", "--resume"]).code, Some(4));
    project.file(".linchpin/loop.yml", CHECKED.replace("iterations: 1", "iterations: 9"));
    project.run(&["trust", "--yes"]);
    let approved = project.run(&["approve", "checked", "--yes"]);
    assert_eq!(approved.code, Some(0), "{}", approved.transcript());
    let reply = project.run(&["run", "--resume"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn restoring_a_gates_script_opens_the_gate_again() {
    let script = r#"
        echo 'exit 0' > check.sh; "$LINCHPIN_BIN" emit loop.complete > emit.log
        git checkout --quiet -- check.sh; touch built; "$LINCHPIN_BIN" emit loop.complete > emit.log
    "#;
    let project = project();
    project.file("check.sh", "test -f built");
    let project = with_loop_in(project, CHECKED, script);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn protect_false_lets_agents_change_a_gates_files() {
    let script = "echo 'exit 0' > check.sh; exec \"$LINCHPIN_BIN\" emit loop.complete";
    let project = project();
    project.file("check.sh", "test -f built");
    let project = with_loop_in(project, &CHECKED.replace("./check.sh]", "./check.sh], protect: false"), script);
    let reply = project.run(&["run", "-p", "Do it"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn a_gate_with_a_broken_rule_is_an_error() {
    let project = project();
    project.rule("pairs", "---\nsets: ['a', 'b']\n---\nNo.\n");
    project.file(".linchpin/loop.yml", format!("{ONE_HAT_LOOP}gates: {{g: {{file_rules: [pairs]}}}}\n"));
    let reply = project.run(&["hats", "validate"]);
    assert_eq!(reply.code, Some(2), "{}", reply.transcript());
    assert!(reply.stdout.contains("the rule `pairs` has errors"), "{}", reply.transcript());
}

#[test]
fn gate_files_are_protected_in_every_spelling() {
    for gate in [
        "command: [sh, ROOT/tools/check]",
        "command: [sh, tools/../tools/check]",
        "command: [make, -ftools/check, test]",
        "command: [make, --file=tools/check]",
        "shell: 'cd tools && sh check'",
        "shell: 'for check in tools/*; do sh $check; done'",
        "shell: './tools/*'",
        "shell: 'tools/ch* --strict'",
        "shell: 'cd tools && ./c*'",
    ] {
        let project = project();
        let gate = gate.replace("ROOT", &project.root().to_string_lossy());
        let the_loop = format!("{ONE_HAT_LOOP}completion: {{requires: [{{{gate}}}]}}\nlimits: {{iterations: 1}}\n");
        project.file("tools/check", "test:\n\tfalse\n");
        let project =
            with_loop_in(project, &the_loop, r#"rm tools/check; "$LINCHPIN_BIN" emit loop.complete > emit.log"#);
        assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(4), "{gate}");
        let emit_output = std::fs::read_to_string(project.root().join("emit.log")).expect("the output of emit");
        assert!(emit_output.contains("changed since the run began: `tools/check` (gone)"), "{gate}: {emit_output}");
    }
}

#[test]
fn an_agent_cannot_create_a_missing_gate_file() {
    for (gate, path) in [
        ("[sh, check.sh, built]", "check.sh"),
        ("[python3, pk]", "pk/__main__.py"),
        ("[python3, -m, mod]", "mod.py"),
        ("[python3, -m, pk]", "pk/__main__.py"),
        ("[node, ./check]", "check.js"),
        ("[node, pk]", "pk/index.js"),
    ] {
        let the_loop =
            format!("{ONE_HAT_LOOP}completion: {{requires: [{{command: {gate}}}]}}\nlimits: {{iterations: 1}}\n");
        let script = format!(
            r#"mkdir -p pk; echo > built; echo > {path}; "$LINCHPIN_BIN" emit loop.complete > emit.log; rm {path}; exit 0"#
        );
        let project = with_loop(&the_loop, &script);
        assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(4), "{gate}");
        let emit_output = std::fs::read_to_string(project.root().join("emit.log")).expect("the output of emit");
        let expected = format!("changed since the run began: `{path}` (did not exist, now ");
        assert!(emit_output.contains(&expected) && !emit_output.contains("`built`"), "{gate}: {emit_output}");
        assert!(
            emit_output.contains(&format!("\nDelete `{path}`, or ask a person to accept the change: ")),
            "{gate}: {emit_output}"
        );
    }
}

#[test]
#[cfg(unix)]
fn a_gate_with_a_symlink_names_the_file_that_was_changed() {
    for (gate, change, reported, fix_command) in [
        ("link.sh", "echo 'exit 0' > link.sh", "`scripts/real.sh` (now ", "git checkout -- scripts/real.sh"),
        (
            "tools/real.sh",
            "echo 'exit 0' > scripts/real.sh",
            "`scripts/real.sh` (now ",
            "git checkout -- scripts/real.sh",
        ),
        ("link.sh", "ln -sf scripts/other.sh link.sh", "`link.sh` (now ", "git checkout -- link.sh"),
        ("tools/real.sh", "rm tools; cp -r other tools", "`tools` (gone)", "git checkout -- tools"),
        (
            "scripts/real.sh",
            "mv scripts s; ln -s other scripts",
            "`scripts/real.sh` (now ",
            "git checkout -- scripts/real.sh",
        ),
    ] {
        let project = project();
        project.file("scripts/real.sh", "exit 1").file("scripts/other.sh", "exit 0").file("other/real.sh", "exit 0");
        for (target, symlink) in [("scripts/real.sh", "link.sh"), ("scripts", "tools")] {
            std::os::unix::fs::symlink(target, project.root().join(symlink)).expect("a symlink");
        }
        let the_loop =
            format!("{ONE_HAT_LOOP}completion: {{requires: [{{command: [sh, {gate}]}}]}}\nlimits: {{iterations: 1}}\n");
        let script = format!(r#"{change}; "$LINCHPIN_BIN" emit loop.complete > .git/emit.log; exit 0"#);
        let project = with_loop_in(project, &the_loop, &script);
        assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(4), "{change}");
        let emit_output = std::fs::read_to_string(project.root().join(".git/emit.log")).expect("the output of emit");
        assert!(emit_output.contains(&format!("since the run began: {reported}")), "{change}: {emit_output}");
        assert!(emit_output.contains(&format!("with `{fix_command}`,")), "{change}: {emit_output}");
    }
}

#[test]
fn the_main_module_of_a_gates_package_is_protected() {
    let the_loop =
        format!("{ONE_HAT_LOOP}completion: {{requires: [{{command: [python3, pk]}}]}}\nlimits: {{iterations: 1}}\n");
    let project = project();
    project.file("pk/__main__.py", "raise SystemExit(1)\n");
    let project = with_loop_in(
        project,
        &the_loop,
        r#"echo > pk/__main__.py; "$LINCHPIN_BIN" emit loop.complete > emit.log; exit 0"#,
    );
    assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(4));
    let emit_output = std::fs::read_to_string(project.root().join("emit.log")).expect("the output of emit");
    assert!(emit_output.contains("changed since the run began: `pk/__main__.py` (now "), "{emit_output}");
}

#[test]
fn a_gate_on_a_session_variable_needs_a_known_session() {
    let project = project();
    project.config("variables: {seen: false}\n");
    let the_loop = format!("{ONE_HAT_LOOP}completion: {{requires: [seen]}}\nlimits: {{iterations: 1}}\n");
    let project = with_loop_in(project, &the_loop, r#""$LINCHPIN_BIN" emit loop.complete > emit.log; exit 0"#);
    assert_eq!(project.run(&["run", "-p", "Do it"]).code, Some(4));
    let emit_output = std::fs::read_to_string(project.root().join("emit.log")).expect("the output of emit");
    insta::assert_snapshot!(emit_output, @"
    `loop.complete` was refused: its gates are not met.

    - completion/1: `seen` cannot be evaluated: variables of a session are needed, and Linchpin can't tell which session belongs to this hat: no session, or more than one, has called Linchpin's hooks in this iteration. `emit` cannot name one; a person can install the hooks (`linchpin install AGENT`) or change the gate

    Once they are met, run `linchpin emit loop.complete \"<summary>\"` again.
    ");
}

#[test]
fn status_shows_the_running_gate_of_a_hand_over() {
    let the_loop =
        format!("{ONE_HAT_LOOP}gates: {{slow: {{command: [sh, slow.sh]}}}}\ncompletion: {{requires: [slow]}}\n");
    let project = project();
    project.file("slow.sh", "echo half; touch .git/begun; while ! test -f .git/go; do sleep 0.02; done");
    let project = with_loop_in(project, &the_loop, r#""$LINCHPIN_BIN" emit loop.complete"#);
    let run = spawn(&project, &["run", "-p", "Do it"]);
    wait_for(&project.root().join(".git/begun"));
    let deadline = Instant::now() + Duration::from_mins(1);
    let times = Regex::new(r"for \d+s").expect("a pattern");
    let status = loop {
        let status = project.run(&["status"]).stdout;
        if status.contains(": half") || Instant::now() > deadline {
            break times.replace_all(&status, "for Ns").into_owned();
        }
        thread::sleep(Duration::from_millis(20));
    };
    let json = project.run(&["status", "--json"]).json();
    project.file(".git/go", "");
    run.wait_with_output().expect("its end");
    let run_lines: Vec<&str> = status.lines().skip_while(|line| !line.starts_with("Run")).take(2).collect();
    insta::assert_snapshot!(run_lines.join("\n"), @"
    Run     r1 going on, #1 hat `worker` on `task.start`
          slow, running `sh slow.sh` for Ns: half
    ");
    assert_eq!(
        (&json["run"]["gates"][0]["id"], &json["run"]["gates"][0]["running"]["last_line"]),
        (&"slow".into(), &"half".into())
    );
}
