//! Commands that make a rule met.

use std::fs;

use serde_json::json;
use testkit::{Reply, Scratch};

use super::{README, commit, event, only_entry, repository, stop, stop_of, stop_saying, summary, told};

/// A project with a rule for every `.py` file whose command runs this script, accepted by a person.
fn with_script(action: &str, script: &str) -> Scratch {
    let project = repository();
    project.rule("run", &rule(action)).file("tools/run.sh", script).file(".gitignore", "*.log\n");
    project.file("src/a.py", "a\n").file("src/b.py", "b\n");
    commit(&project, "Begin");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project
}

fn rule(action: &str) -> String {
    format!("---\nname: Run it\ntrigger: '**/*.py'\naction: {{{action}}}\n---\nMend what it says.\n")
}

fn text(project: &Scratch, path: &str) -> String {
    fs::read_to_string(project.root().join(path)).unwrap_or_default()
}

/// How often a script ran that writes a line into a file that git ignores.
fn runs(project: &Scratch) -> usize {
    text(project, "runs.log").lines().count()
}

fn stop_with(project: &Scratch, variables: &[(&str, &str)]) -> Reply {
    let mut command = project.command(&["hook", "claude"]);
    command.envs(variables.iter().copied());
    let payload = event(project, "session-1", "Stop", &json!({ "stop_hook_active": false }));
    project.feed(command, payload.to_string().as_bytes())
}

#[test]
fn a_command_sees_little_of_the_environment() {
    let project = with_script("command: 'sh tools/run.sh'", "env | sed 's/=.*//' | sort > names.txt\n");
    project.config("command_env: [EXTRA]\n").file("src/a.py", "changed\n");
    commit(&project, "More");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "changed again\n");
    let variables = [
        ("API_KEY", "secret"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("BASH_ENV", "/x"),
        ("CARGO_HOME", "/x"),
        ("CLAUDE_CODE_SESSION_ID", "session-1"),
        ("EXTRA", "1"),
        ("GIT_DIR", "/nowhere"),
        ("GITHUB_TOKEN", "secret"),
        ("LANG", "C"),
        ("LC_ALL", "C"),
        ("LD_LIBRARY_PATH", "/x"),
        ("NODE_OPTIONS", "--x"),
        ("PYTHONPATH", "/x"),
        ("SSH_AUTH_SOCK", "/x"),
        ("TERM", "dumb"),
        ("USER", "somebody"),
    ];
    assert_eq!(stop_with(&project, &variables).stdout, "");
    // `PWD`, `OLDPWD`, `SHLVL` and `_` are the shell's own.
    let names = text(&project, "names.txt");
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let names: Vec<&str> = names.lines().filter(|name| !own.contains(name)).collect();
    insta::assert_snapshot!(names.join(" "), @"CARGO_HOME EXTRA HOME LANG LC_ALL PATH TERM TMPDIR TZ USER XDG_CONFIG_HOME XDG_STATE_HOME");
}

#[test]
fn a_script_gets_the_files_as_arguments() {
    let project = with_script(r#"shell: 'for file in "$@"; do echo "<$file>"; done >> runs.log && true'"#, "");
    project.file("src/$(touch x).py", "new\n").file("src/a b.py", "new\n");
    assert_eq!(stop(&project).stdout, "");
    // It runs twice: the second time shows that it is at rest.
    let seen: Vec<String> = text(&project, "runs.log").lines().take(2).map(str::to_owned).collect();
    assert_eq!(seen, ["<src/$(touch x).py>", "<src/a b.py>"]);
    assert!(!project.root().join("x").exists());
    let project = with_script(r#"shell: 'echo "<$1>" >> runs.log', run_for: each_match"#, "");
    project.file("src/a.py", "new\n").file("src/b.py", "new\n");
    assert_eq!(stop(&project).stdout, "");
    let mut seen: Vec<String> = text(&project, "runs.log").lines().map(str::to_owned).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen, ["<src/a.py>", "<src/b.py>"]);
}

#[test]
fn shell_syntax_in_an_action_is_an_error_and_so_is_a_placeholder_in_a_script() {
    let project = repository();
    project.rule("run", &rule("command: 'ruff {file} && true'"));
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 2
    --- stdout
    error: `command` has `&&`, but no shell reads it: the program would get it as an argument
     --> .linchpin/rules/run.md:4:19
      |
    4 | action: {command: 'ruff {file} && true'}
      |                   ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: to run it in a shell, write `shell: "…"` in place of `command`; to pass it as an argument, quote it or write the words as a list

    2 rules in force; 1 error.
    --- stderr
    "#);
    project.rule("run", &rule("shell: 'ruff {file} && true'"));
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 2
    --- stdout
    error: `{file}` is not filled in in a script
     --> .linchpin/rules/run.md:4:17
      |
    4 | action: {shell: 'ruff {file} && true'}
      |                 ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: the files are the script's arguments: `"$@"`, or `"$1"` with `run_for: each_match`; it runs in the root

    2 rules in force; 1 error.
    --- stderr
    "#);
    project.rule("run", &rule("shell: 'true', command: 'true'"));
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: the `action` has `command` and `shell`, and runs only one
     --> .linchpin/rules/run.md:4:9
      |
    4 | action: {shell: 'true', command: 'true'}
      |         ^

    2 rules in force; 1 error.
    --- stderr
    ");
    project.rule("run", &rule("command: [ruff, '{file}', '&&']"));
    assert_eq!(project.run(&["validate"]).code, Some(0));
}

#[test]
fn a_rule_whose_command_speaks_needs_no_reason() {
    let project = repository();
    project.rule("run", "---\ntrigger: '**/*.py'\naction: {command: 'sh tools/run.sh'}\n---\n");
    project.file("tools/run.sh", "echo no good; exit 1\n");
    commit(&project, "Begin");
    let validated = project.run(&["validate"]).transcript();
    assert!(!validated.contains("reason"), "{validated}");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "new\n");
    insta::assert_snapshot!(stop(&project).json()["reason"].as_str().unwrap_or_default(), @r#"
    The following rules require attention:

    ## run
    `sh tools/run.sh`: it failed with exit code 1
    no good

    Where a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}

const ODD: [&str; 6] =
    ["-dash.py", "src/$(touch x).py", "src/a b.py", "src/new\nline.py", "src/quo\"te's.py", "src/{file}.py"];

#[test]
fn odd_names_are_whole_arguments() {
    let project = with_script(
        "command: 'sh tools/run.sh {files} {repo_root} \"two words\"'",
        "printf '<%s>\\n' \"$@\" > arguments.txt\n",
    );
    for name in ODD {
        project.file(name, "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    insta::assert_snapshot!(project.shown(&text(&project, "arguments.txt")), @r#"
    <./-dash.py>
    <src/$(touch x).py>
    <src/a b.py>
    <src/new
    line.py>
    <src/quo"te's.py>
    <src/{file}.py>
    <[BASE]/project>
    <two words>
    "#);
    let project = with_script("command: 'sh tools/run.sh {file}'", "printf done > \"$1\"\n");
    for name in ODD {
        project.file(name, "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    for name in ODD {
        assert_eq!(text(&project, name), "done", "{name}");
    }
    assert!(!project.root().join("x").exists());
}

#[test]
fn captured_variables_are_arguments_and_the_group_that_is_whole_is_left_out() {
    let project = repository();
    project.rule("run", "---\npair: {trigger: 'src/{path}.py', expects: 'gen/{path}.txt'}\naction: {command: 'sh tools/run.sh {path} {file}'}\n---\nNo.\n");
    project.file("tools/run.sh", "mkdir -p gen && printf '%s %s' \"$1\" \"$2\" > \"gen/$1.txt\"\n");
    commit(&project, "Begin");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "new\n").file("src/b.py", "new\n").file("gen/b.txt", "by hand");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(text(&project, "gen/a.txt"), "a src/a.py");
    assert_eq!(text(&project, "gen/b.txt"), "by hand");
}

#[test]
fn a_file_that_is_gone_is_left_out() {
    let project = with_script(
        "command: 'sh tools/run.sh {files}'",
        "echo run >> runs.log; printf '%s\\n' \"$@\" > arguments.txt\n",
    );
    fs::remove_file(project.root().join("src/b.py")).expect("a file");
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(text(&project, "arguments.txt"), "src/a.py\n");
    // Where nothing is left, nothing is run.
    let before = runs(&project);
    project.file("src/a.py", "a\n");
    fs::remove_file(project.root().join("arguments.txt")).expect("a file");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), before);
}

#[test]
fn a_command_that_fails_is_told_first() {
    let project =
        with_script("command: 'sh tools/run.sh {file}'", "echo checking; echo \"$1: line 3: no\" >&2; exit 3\n");
    project.rule("aaa", README);
    project.file("src/a.py", "changed\n");
    let reply = stop(&project);
    insta::assert_snapshot!(reply.reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it failed with exit code 3
    checking
    src/a.py: line 3: no

    Mend what it says.

    ## README Accuracy
    src/a.py
    (a change of README.md answers it)

    Source files changed. Verify README.md is accurate.

    Where a rule is seen to or does not apply, say so with `<promise>aaa</promise>` in your last message, outside of code, or run `linchpin ack aaa --reason "…"`. The rules are run, aaa.
    "#);
    assert_eq!(told(&reply), "");
    let entry = super::queue(&project).into_values().find(|entry| entry["rule_name"] == "run").expect("an entry");
    insta::assert_snapshot!(serde_json::to_string_pretty(&entry["action_result"]).expect("JSON"), @r#"
    {
      "type": "command",
      "command": "sh tools/run.sh src/a.py",
      "exit_code": 3,
      "output": "it failed with exit code 3",
      "stdout": "checking\n",
      "stderr": "src/a.py: line 3: no\n",
      "tree": "a10b84971084c7f0cb6bbfb8"
    }
    "#);
    assert_eq!(entry["status"], "failed");
    // A promise answers what is asked for, not what fails.
    let reason = stop_saying(&project, "<promise>run</promise><promise>aaa</promise>").reason();
    assert!(reason.contains("exit code 3") && !reason.contains("README"), "{reason}");
}

#[test]
fn a_command_that_keeps_failing_lets_go_and_other_content_runs_it_again() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log; grep -q good \"$1\"\n");
    project.file("src/a.py", "bad\n");
    let blocks = (0..10).take_while(|_| stop(&project).stdout.contains("\"block\"")).count();
    assert_eq!(blocks, 3);
    assert_eq!(runs(&project), 1);
    assert_eq!(stop(&project).stdout, "");
    insta::assert_snapshot!(summary(&project), @"failed 4x run: src/a.py");
    project.file("src/a.py", "still bad\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(runs(&project), 2);
    project.file("src/a.py", "good\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 3);
    // As it is, it has passed.
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 3);
    project.file("src/a.py", "good as well\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 4);
    // Only what changed.
    project.file("src/b.py", "good\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 5);
}

#[test]
fn a_command_that_never_comes_to_rest_is_told_to_agent_and_person() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "echo run >> runs.log; echo more >> \"$1\"; echo x > same.txt\n",
    );
    project.file("src/a.py", "changed\n");
    let reply = stop(&project);
    insta::assert_snapshot!(reply.reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it does not come to rest: it changed `src/a.py` once more

    Mend what it says.

    Where a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
    insta::assert_snapshot!(told(&reply), @"Linchpin: rule `run`: it does not come to rest: it changed `src/a.py` once more");
    assert_eq!(runs(&project), 2);
    let (_, entry) = only_entry(&project);
    assert_eq!(entry["status"], "failed");
    let mut result = entry["action_result"].clone();
    assert!(result.as_object_mut().expect("a result").remove("tree").is_some());
    insta::assert_snapshot!(result.to_string(), @r#"{"type":"command","command":"sh tools/run.sh src/a.py","exit_code":0,"output":"it does not come to rest: it changed `src/a.py` once more","stdout":"","stderr":""}"#);
    // It is not run at every stop.
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(runs(&project), 2);
}

#[test]
fn a_formatter_passes_and_is_run_twice_only_where_it_changed_something() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "echo run >> runs.log; tr a-z A-Z < \"$1\" > x.log && cat x.log > \"$1\"\n",
    );
    project.file("src/a.py", "shout\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(text(&project, "src/a.py"), "SHOUT\n");
    assert_eq!(runs(&project), 2);
    assert_eq!(summary(&project), "passed 0x run: src/a.py");
    project.file("src/a.py", "LOUD\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 3);
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    let project = with_script("command: 'sh tools/run.sh {file}', timeout: 1s", "echo begun; sleep 60 & wait\n");
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it was ended after 1s
    begun

    Mend what it says.

    Where a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
    let (_, entry) = only_entry(&project);
    assert_eq!(entry["action_result"]["exit_code"], json!(null));
}

#[test]
fn sessions_that_end_at_once_wait_for_each_other() {
    let project = with_script("command: 'sh tools/run.sh {file}', timeout: 1s", "sleep 0.4\n");
    project.file("src/a.py", "changed\n");
    std::thread::scope(|scope| {
        for number in 0..6 {
            let project = &project;
            scope.spawn(move || {
                assert_eq!(stop_of(project, &format!("session-{number}"), "Done.").stdout, "", "{number}");
            });
        }
    });
}

#[test]
fn a_program_that_is_not_there() {
    let project = with_script("command: 'no-such-program {file}'", "");
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `no-such-program src/a.py`: `no-such-program` cannot be started: No such file or directory (os error 2)

    Mend what it says.

    Where a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}

#[test]
fn a_secret_in_the_output_is_masked_in_the_queue() {
    let script = "echo \"key AKIAIOSFODNN7EXAMPLE and ghp_abcdefghijklmnopqrstuvwxyz0123456789\" >&2; exit 1\n";
    let project = with_script("command: 'sh tools/run.sh {file}'", script);
    project.file("src/a.py", "changed\n");
    stop(&project);
    let (path, _) = only_entry(&project);
    assert!(!text(&project, &path.to_string_lossy()).contains("ghp_abcdefghijklmnopqrstuvwxyz"), "{path:?}");
}

#[test]
fn a_repositorys_command_is_not_run_until_a_person_accepts_it() {
    let project = repository();
    project.rule("run", &rule("command: 'sh tools/run.sh {file}'")).file("tools/run.sh", "touch ran\n");
    commit(&project, "Begin");
    project.file("src/a.py", "new\n");
    insta::assert_snapshot!(stop(&project).transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: .linchpin/rules/run.md: runs a command; it is not in force until a person accepts it (`linchpin trust`)"}
    --- stderr
    "#);
    insta::assert_snapshot!(project.run(&["check", "--fix"]).transcript(), @"
    exit 0
    --- stdout
    Note: .linchpin/rules/run.md: runs a command; it is not in force until a person accepts it (`linchpin trust`).
    No file rules are in force.
    --- stderr
    ");
    assert!(!project.root().join("ran").exists());
    assert_eq!(super::queue(&project).len(), 0);
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/run.md: runs a command; it is not in force until a person accepts it
        name: Run it
        trigger: '**/*.py'
        action: {command: 'sh tools/run.sh {file}'}

    Accepted. It holds until one of these parts changes.
    --- stderr
    ");
    assert_eq!(stop(&project).stdout, "");
    assert!(project.root().join("ran").exists());
    // Another command is not the one that was accepted; a running session keeps that one.
    fs::remove_file(project.root().join("ran")).expect("a file");
    project.rule("run", &rule("command: 'sh tools/run.sh {file} --now'")).file("src/b.py", "new\n");
    let reply = stop_of(&project, "session-2", "Done.");
    assert!(told(&reply).contains("runs a command; it is not in force until"), "{}", reply.stdout);
    assert!(!project.root().join("ran").exists());
}

#[test]
fn nothing_is_run_in_observe_mode() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log\n");
    project.config("mode: observe\n");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "changed\n");
    stop(&project);
    assert_eq!(runs(&project), 0);
}

#[test]
fn a_rule_of_the_users_own_needs_nobodys_trust() {
    let project = repository();
    commit(&project, "Begin");
    project.user_rule("mine", &rule("command: 'touch ran'")).file("src/a.py", "new\n");
    assert_eq!(stop(&project).stdout, "");
    assert!(project.root().join("ran").exists());
}

#[test]
fn of_a_long_output_the_end_is_kept() {
    let project = with_script("command: 'sh tools/run.sh'", "seq 1 20000; echo the end; exit 1\n");
    project.file("src/a.py", "changed\n");
    assert!(stop(&project).reason().contains("the end"));
    let (_, entry) = only_entry(&project);
    let kept = entry["action_result"]["stdout"].as_str().expect("text");
    assert!(kept.len() <= 4096 && kept.len() > 2000 && kept.ends_with("20000\nthe end\n"), "{}", kept.len());
}

#[test]
fn a_command_that_fails_can_be_acknowledged() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "exit 1\n");
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(project.run(&["ack", "run", "--reason", "the linter is wrong"]).code, Some(0));
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "passed 1x run: src/a.py");
    // For what it was about.
    project.file("src/a.py", "changed again\n");
    assert_eq!(stop(&project).json()["decision"], "block");
}

#[test]
fn two_processes_never_run_it_for_one_file_at_once() {
    let script = "mkdir busy.log || exit 9; sleep 0.1; rmdir busy.log; echo run >> runs.log\n";
    let project = with_script("command: 'sh tools/run.sh {file}'", script);
    project.file("src/a.py", "changed\n");
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let stopping = ["one", "two", "three"];
        let stopping = stopping.map(|session| {
            scope.spawn({
                let project = &project;
                move || stop_of(project, session, "Done.")
            })
        });
        stopping.map(|reply| reply.join().expect("a reply")).into()
    });
    for reply in replies {
        assert_eq!(reply.stdout, "");
    }
    assert!((1..=3).contains(&runs(&project)));
}

#[test]
fn many_files_are_given_in_batches() {
    let project = with_script("command: 'sh tools/run.sh {files}'", "echo \"$#\" >> runs.log\n");
    for number in 0..600 {
        project.file(&format!("src/{number:0>150}.py"), "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    let counts = text(&project, "runs.log");
    let counts: Vec<usize> = counts.lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(counts.iter().sum::<usize>(), 600);
    assert!(counts.len() > 1, "{counts:?}");
}

#[test]
fn batches_are_run_one_after_another() {
    let script = "mkdir busy.log || exit 9; sleep 0.5; rmdir busy.log; echo run >> runs.log\n";
    let project = with_script("command: 'sh tools/run.sh {files}'", script);
    for number in 0..201 {
        project.file(&format!("src/{number}.py"), "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 2);
}

#[test]
fn a_command_that_names_no_files_is_run_once_however_many_there_are() {
    let project = with_script("command: 'sh tools/run.sh'", "echo run >> runs.log\n");
    for number in 0..201 {
        project.file(&format!("src/{number}.py"), "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 1);
    let (_, entry) = only_entry(&project);
    assert_eq!(entry["action_result"]["output"], "ran and is at rest");
}

#[test]
fn a_command_that_names_no_files_is_run_even_if_all_of_them_are_gone() {
    let project = with_script("command: 'sh tools/run.sh'", "echo run >> runs.log\n");
    fs::remove_file(project.root().join("src/b.py")).expect("a file");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 1);
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 1);
}

#[test]
fn a_command_that_failed_is_run_again_once_anything_is_another() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log; test -e mended\n");
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(runs(&project), 1);
    // Not a file that the rule is about.
    project.file("mended", "");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 2);
}

#[test]
fn every_file_that_fails_is_told_of_and_placeholders_are_filled_in() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo \"bad: $1\" >&2; exit 3\n");
    project.rule("run", &rule("command: 'sh tools/run.sh {file}'").replace("Mend what", "Mend {trigger_files} as"));
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "changed\n").file("src/b.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it failed with exit code 3, and 1 more did not go well
    bad: src/a.py

    `sh tools/run.sh src/b.py`: it failed with exit code 3
    bad: src/b.py

    Mend src/a.py, src/b.py as it says.

    Where a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}

#[test]
fn of_several_that_fail_each_tells_how() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}', timeout: 1s",
        "case $1 in *a.py) exit 2;; *) sleep 60;; esac\n",
    );
    project.file("src/a.py", "changed\n").file("src/b.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it failed with exit code 2, and 1 more did not go well
    `sh tools/run.sh src/b.py`: it was ended after 1s

    Mend what it says.

    Where a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}

#[test]
fn what_a_command_does_to_the_policy_is_noticed_even_where_it_fails() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "echo 'mode: observe' > .linchpin/config.yml; mkdir -p .linchpin/rules; echo > .linchpin/rules/state.dbx.md; exit 1\n",
    );
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(told(&stop(&project)), @"Linchpin: rule `run`: it changed Linchpin's own policy: `.linchpin/config.yml`, `.linchpin/rules/state.dbx.md`");
}

#[test]
fn what_a_command_leaves_behind_is_ended() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "( sleep 2; echo late >> runs.log ) > /dev/null 2>&1 &\necho run >> runs.log\n",
    );
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(3);
    while std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(text(&project, "runs.log"), "run\n");
}

#[test]
fn a_queue_that_cannot_be_written_after_the_command_is_told() {
    let script = "rm -rf .linchpin/tmp/rules/queue && touch .linchpin/tmp/rules/queue\n";
    let project = with_script("command: 'sh tools/run.sh {file}'", script);
    project.file("src/a.py", "changed\n");
    let said = project.shown(&told(&stop(&project)));
    assert!(said.starts_with("Linchpin: `[BASE]/project/.linchpin/tmp/rules/queue/"), "{said}");
    assert!(said.ends_with(".passed.json` cannot be written: entity already exists"), "{said}");
}

#[test]
fn a_command_that_goes_well_in_the_end_lets_nothing_go() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "test -e mended\n");
    project.file("src/a.py", "changed\n");
    for _ in 0..3 {
        assert_eq!(stop(&project).json()["decision"], "block");
    }
    project.file("mended", "");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "passed 3x run: src/a.py");
}

#[test]
fn a_subagent_whose_command_goes_well_is_not_held() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log\n");
    project.file("src/a.py", "changed\n");
    let fields = json!({ "stop_hook_active": false, "agent_id": "agent-1", "last_assistant_message": "Done." });
    assert_eq!(project.hook("claude", &project.event("SubagentStop", &fields)).stdout, "");
    assert_eq!(runs(&project), 1);
    assert_eq!(project.run(&["status", "--json"]).json()["session"]["holds"], json!({}));
}

#[test]
fn of_several_the_one_that_does_not_come_to_rest_is_named() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "case $1 in *b.py) echo more >> \"$1\";; esac\n");
    project.file("src/a.py", "changed\n").file("src/b.py", "changed\n");
    let reason = stop(&project).reason();
    assert!(reason.contains("`sh tools/run.sh src/b.py`: it does not come to rest"), "{reason}");
}

#[test]
fn a_list_is_the_program_and_its_arguments() {
    let script = "printf '%s|' \"$@\" > seen.log\n";
    let project = with_script("command: [sh, tools/run.sh, 'two words', '{file}', '$HOME; x']", script);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(text(&project, "seen.log"), "two words|src/a.py|$HOME; x|");
}
