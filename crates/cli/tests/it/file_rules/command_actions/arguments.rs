//! Commands of rules: the program, its arguments and its environment.

use std::fs;

use super::{read_file, rule_with_action, run_count, stop_with_env, with_script};
use crate::file_rules::{commit, only_entry, repository, stop};

#[test]
fn a_command_inherits_few_environment_variables() {
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
    assert_eq!(stop_with_env(&project, &variables).stdout, "");
    // The shell itself sets `PWD`, `OLDPWD`, `SHLVL` and `_`.
    let names = read_file(&project, "names.txt");
    let shell_variables = ["PWD", "OLDPWD", "SHLVL", "_"];
    let names: Vec<&str> = names.lines().filter(|name| !shell_variables.contains(name)).collect();
    insta::assert_snapshot!(names.join(" "), @"CARGO_HOME EXTRA HOME LANG LC_ALL PATH TERM TMPDIR TZ USER XDG_CONFIG_HOME XDG_STATE_HOME");
}

#[test]
fn a_script_gets_the_files_as_arguments() {
    let project = with_script(r#"shell: 'for file in "$@"; do echo "<$file>"; done >> runs.log && true'"#, "");
    project.file("src/$(touch x).py", "new\n").file("src/a b.py", "new\n");
    assert_eq!(stop(&project).stdout, "");
    // The command runs twice: the second run shows that it changes nothing more.
    let seen: Vec<String> = read_file(&project, "runs.log").lines().take(2).map(str::to_owned).collect();
    assert_eq!(seen, ["<src/$(touch x).py>", "<src/a b.py>"]);
    assert!(!project.root().join("x").exists());
    let project = with_script(r#"shell: 'echo "<$1>" >> runs.log', run_for: each_match"#, "");
    project.file("src/a.py", "new\n").file("src/b.py", "new\n");
    assert_eq!(stop(&project).stdout, "");
    let mut seen: Vec<String> = read_file(&project, "runs.log").lines().map(str::to_owned).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen, ["<src/a.py>", "<src/b.py>"]);
}

#[test]
fn shell_syntax_in_a_command_and_placeholders_in_a_script_are_errors() {
    let project = repository();
    project.rule("run", &rule_with_action("command: 'ruff {file} && true'"));
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 2
    --- stdout
    error: `command` has `&&`, which only a shell interprets, but no shell runs `command`
     --> .linchpin/rules/run.md:4:19
      |
    4 | action: {command: 'ruff {file} && true'}
      |                   ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: to run it in a shell, write `shell: "…"` instead of `command`; to pass it as an argument, quote it or write the words as a list

    2 rules in force; 1 error.
    --- stderr
    "#);
    project.rule("run", &rule_with_action("shell: 'ruff {file} && true'"));
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 2
    --- stdout
    error: `{file}` is not replaced in a script
     --> .linchpin/rules/run.md:4:17
      |
    4 | action: {shell: 'ruff {file} && true'}
      |                 ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: the script gets the files as its arguments: `"$@"`, or `"$1"` with `run_for: each_match`; it runs in the project root

    2 rules in force; 1 error.
    --- stderr
    "#);
    project.rule("run", &rule_with_action("shell: 'true', command: 'true'"));
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: the `action` must have either `command` or `shell`, not both
     --> .linchpin/rules/run.md:4:9
      |
    4 | action: {shell: 'true', command: 'true'}
      |         ^

    2 rules in force; 1 error.
    --- stderr
    ");
    project.rule("run", &rule_with_action("command: [ruff, '{file}', '&&']"));
    assert_eq!(project.run(&["validate"]).code, Some(0));
}

#[test]
fn a_rule_with_a_command_needs_no_reason() {
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

    If a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}

const UNUSUAL_NAMES: [&str; 6] =
    ["-dash.py", "src/$(touch x).py", "src/a b.py", "src/new\nline.py", "src/quo\"te's.py", "src/{file}.py"];

#[test]
fn unusual_file_names_stay_single_arguments() {
    let project = with_script(
        "command: 'sh tools/run.sh {files} {repo_root} \"two words\"'",
        "printf '<%s>\\n' \"$@\" > arguments.txt\n",
    );
    for name in UNUSUAL_NAMES {
        project.file(name, "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    insta::assert_snapshot!(project.redacted(&read_file(&project, "arguments.txt")), @r#"
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
    for name in UNUSUAL_NAMES {
        project.file(name, "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    for name in UNUSUAL_NAMES {
        assert_eq!(read_file(&project, name), "done", "{name}");
    }
    assert!(!project.root().join("x").exists());
}

#[test]
fn captured_variables_become_arguments_and_met_pairs_are_skipped() {
    let project = repository();
    project.rule("run", "---\npair: {trigger: 'src/{path}.py', expects: 'gen/{path}.txt'}\naction: {command: 'sh tools/run.sh {path} {file}'}\n---\nNo.\n");
    project.file("tools/run.sh", "mkdir -p gen && printf '%s %s' \"$1\" \"$2\" > \"gen/$1.txt\"\n");
    commit(&project, "Begin");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "new\n").file("src/b.py", "new\n").file("gen/b.txt", "by hand");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(read_file(&project, "gen/a.txt"), "a src/a.py");
    assert_eq!(read_file(&project, "gen/b.txt"), "by hand");
}

#[test]
fn deleted_files_are_not_passed_to_the_command() {
    let project = with_script(
        "command: 'sh tools/run.sh {files}'",
        "echo run >> runs.log; printf '%s\\n' \"$@\" > arguments.txt\n",
    );
    fs::remove_file(project.root().join("src/b.py")).expect("a file");
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(read_file(&project, "arguments.txt"), "src/a.py\n");
    // The only changed source file was deleted, so the command does not run.
    let before = run_count(&project);
    project.file("src/a.py", "a\n");
    fs::remove_file(project.root().join("arguments.txt")).expect("a file");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), before);
}

#[test]
fn many_files_are_passed_in_batches() {
    let project = with_script("command: 'sh tools/run.sh {files}'", "echo \"$#\" >> runs.log\n");
    for number in 0..600 {
        project.file(&format!("src/{number:0>150}.py"), "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    let counts = read_file(&project, "runs.log");
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
    assert_eq!(run_count(&project), 2);
}

#[test]
fn a_command_without_placeholders_runs_once_for_any_number_of_files() {
    let project = with_script("command: 'sh tools/run.sh'", "echo run >> runs.log\n");
    for number in 0..201 {
        project.file(&format!("src/{number}.py"), "new\n");
    }
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 1);
    let (_, entry) = only_entry(&project);
    assert_eq!(entry["action_result"]["output"], "ran; running it again changes nothing");
}

#[test]
fn a_command_without_placeholders_runs_even_if_all_files_are_deleted() {
    let project = with_script("command: 'sh tools/run.sh'", "echo run >> runs.log\n");
    fs::remove_file(project.root().join("src/b.py")).expect("a file");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 1);
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 1);
}

#[test]
fn a_command_may_be_a_list_of_arguments() {
    let script = "printf '%s|' \"$@\" > seen.log\n";
    let project = with_script("command: [sh, tools/run.sh, 'two words', '{file}', '$HOME; x']", script);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(read_file(&project, "seen.log"), "two words|src/a.py|$HOME; x|");
}
