//! `linchpin validate`: the messages for errors in policy files.

use std::fs;
use std::path::Path;

use super::{project, project_without_policy};

fn broken_project() -> testkit::TestProject {
    let project = project();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/broken");
    fs::copy(fixtures.join("config.yml"), project.root().join(".linchpin/config.yml")).expect("a copy");
    for entry in fs::read_dir(fixtures.join("rules")).expect("the fixtures").filter_map(Result::ok) {
        fs::copy(entry.path(), project.root().join(".linchpin/rules").join(entry.file_name())).expect("a copy");
    }
    project
}

#[test]
fn deliberately_broken_policies() {
    let reply = broken_project().run(&["validate"]);
    assert_eq!(reply.code, Some(2));
    assert_eq!(reply.stderr, "");
    insta::assert_snapshot!(reply.stdout);
}

#[test]
fn deliberately_broken_policies_as_json() {
    let reply = broken_project().run(&["validate", "--json"]);
    assert_eq!(reply.code, Some(2));
    let report = reply.json();
    let lines: Vec<String> = report["problems"].as_array().expect("a list").iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_valid_policy_has_no_errors() {
    let project = project();
    project.config("rules: [hard-reset]\n").rule("no-danger", super::NO_DANGER);
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    4 rules in force, no errors.
    --- stderr
    ");
    assert_eq!(project.run(&["validate", "--json"]).json()["sound"], true);
}

#[test]
fn validate_accepts_a_path() {
    let project = project();
    project.rule("no-danger", super::NO_DANGER);
    let elsewhere = project_without_policy();
    let root = project.root();
    assert_eq!(elsewhere.run(&["validate", &root.to_string_lossy()]).code, Some(0));
    insta::assert_snapshot!(elsewhere.run(&["validate", "nowhere"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `nowhere` cannot be read: No such file or directory (os error 2)
    ");
}

#[test]
fn validate_without_a_policy_is_an_error() {
    insta::assert_snapshot!(project_without_policy().run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `linchpin init` writes one
    ");
    insta::assert_snapshot!(project_without_policy().run(&["validate", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"NoPolicy","message":"there is no policy in `[BASE]/project` or above it","help":"`linchpin init` writes one"}}
    --- stderr
    "#);
}

#[test]
fn special_files_do_not_block() {
    let project = project();
    let rules = project.root().join(".linchpin/rules");
    let status = std::process::Command::new("mkfifo").arg(rules.join("pipe.md")).status().expect("mkfifo");
    assert!(status.success());
    fs::create_dir(rules.join("folder.md")).expect("a directory");
    std::os::unix::fs::symlink("/dev/zero", rules.join("endless.md")).expect("a symlink");
    fs::write(rules.join("large.md"), vec![b'x'; 300 * 1024]).expect("a file");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: this symlink leads out of the project, so it is not followed
    --> .linchpin/rules/endless.md

    error: cannot be read: not a regular file
    --> .linchpin/rules/folder.md

    error: the file is larger than the limit of 256 KiB
    --> .linchpin/rules/large.md

    error: cannot be read: not a regular file
    --> .linchpin/rules/pipe.md

    2 rules in force; 4 errors.
    ");
}

#[test]
fn the_number_of_reported_problems_per_file_is_limited() {
    let project = project();
    let fields: Vec<String> = (0..1000).map(|number| format!("key{number}: x")).collect();
    project.rule("wrong", &format!("---\n{}\n---\nNo.\n", fields.join("\n")));
    let shown = project.run(&["validate"]).stdout;
    assert_eq!(shown.matches("unknown key").count(), 50);
    assert!(shown.contains("and 950 more problems in this file"), "{shown}");
}

/// Returns the output of `validate` for a project with a rule that has these fields.
fn validate_transcript(fields: &str) -> String {
    let project = project();
    project.rule("a", &format!("---\n{fields}\n---\nNo.\n"));
    project.run(&["validate"]).transcript()
}

#[test]
fn likely_mistakes_in_rules_are_warned_about() {
    let transcripts = [
        "tools: Read\ncommand_pattern: '^ls'",
        "tools: [Read, Grep]\ncommand: {program: ls}",
        "command_pattern: 'cargo build && cargo test'",
        "command_pattern: 'curl.*\\|\\s*sh'",
        "command_pattern: 'cd x; make'",
        "command_pattern: 'git  push'",
        "command_not_pattern: '^ls'",
        "rewrites: [main]\naction: allow",
        "command: {program: cat, reads: ['docs/**']}\naction: allow",
        "command_pattern: '^ls'\nmax_holds: 2",
        "phase_timeout: {max_duration: 300}\nmax_holds: 2",
    ];
    insta::assert_snapshot!(transcripts.map(validate_transcript).join("\n"), @r#"
    exit 0
    --- stdout
    warning: `command_pattern` never matches these tools: only shell calls have commands
     --> .linchpin/rules/a.md:2:1
      |
    2 | tools: Read
      | ^^^^^
      |
      = help: write `tools: [Bash]`, or remove `tools`; for what file tools do, use `reads`, `writes` or `paths`

    3 rules in force; 1 warning.
    --- stderr

    exit 0
    --- stdout
    warning: `command` never matches these tools: only shell calls have commands
     --> .linchpin/rules/a.md:2:1
      |
    2 | tools: [Read, Grep]
      | ^^^^^
      |
      = help: write `tools: [Bash]`, or remove `tools`; for what file tools do, use `reads`, `writes` or `paths`

    3 rules in force; 1 warning.
    --- stderr

    exit 0
    --- stdout
    warning: this never matches: it spans two commands, but each simple command is searched separately
     --> .linchpin/rules/a.md:2:1
      |
    2 | command_pattern: 'cargo build && cargo test'
      | ^^^^^^^^^^^^^^^
      |
      = help: search for one of them; for output that is piped into a shell, use `command` with `runs_output_of`

    3 rules in force; 1 warning.
    --- stderr

    exit 0
    --- stdout
    warning: this never matches: it spans two commands, but each simple command is searched separately
     --> .linchpin/rules/a.md:2:1
      |
    2 | command_pattern: 'curl.*\|\s*sh'
      | ^^^^^^^^^^^^^^^
      |
      = help: search for one of them; for output that is piped into a shell, use `command` with `runs_output_of`

    3 rules in force; 1 warning.
    --- stderr

    exit 0
    --- stdout
    warning: this never matches: it spans two commands, but each simple command is searched separately
     --> .linchpin/rules/a.md:2:1
      |
    2 | command_pattern: 'cd x; make'
      | ^^^^^^^^^^^^^^^
      |
      = help: search for one of them; for output that is piped into a shell, use `command` with `runs_output_of`

    3 rules in force; 1 warning.
    --- stderr

    exit 0
    --- stdout
    warning: this never matches: it has two spaces, but words are joined by one
     --> .linchpin/rules/a.md:2:1
      |
    2 | command_pattern: 'git  push'
      | ^^^^^^^^^^^^^^^
      |
      = help: write one space; a word that contains spaces is shown as `…`

    3 rules in force; 1 warning.
    --- stderr

    exit 0
    --- stdout
    warning: `command_not_pattern` alone matches every command in which it is not found
     --> .linchpin/rules/a.md:2:1
      |
    2 | command_not_pattern: '^ls'
      | ^^^^^^^^^^^^^^^^^^^
      |
      = help: add the commands that it is an exception from as `command` or `command_pattern`; `command_pattern: '.'` matches all

    3 rules in force; 1 warning.
    --- stderr

    exit 0
    --- stdout
    warning: an `allow` rule with `rewrites` never allows anything
     --> .linchpin/rules/a.md:2:1
      |
    2 | rewrites: [main]
      | ^^^^^^^^
      |
      = help: to allow commands, use `command_pattern`, or `command` without paths; see "Several rules" in docs/rules.md

    warning: this rule is ignored until a person runs `linchpin trust`, because it approves calls without asking
    --> .linchpin/rules/a.md
     = help: read it, then run `linchpin trust`

    2 rules in force; 2 warnings.
    --- stderr

    exit 0
    --- stdout
    warning: this `allow` rule never allows anything: a condition on the paths of a command cannot allow the command
     --> .linchpin/rules/a.md:2:1
      |
    2 | command: {program: cat, reads: ['docs/**']}
      | ^^^^^^^
      |
      = help: to allow commands, use `command_pattern`, or `command` without paths; see "Several rules" in docs/rules.md

    warning: this rule is ignored until a person runs `linchpin trust`, because it approves calls without asking
    --> .linchpin/rules/a.md
     = help: read it, then run `linchpin trust`

    2 rules in force; 2 warnings.
    --- stderr

    exit 0
    --- stdout
    warning: `max_holds` has no effect: it counts held stops, and this rule is not checked on a stop
     --> .linchpin/rules/a.md:3:1
      |
    3 | max_holds: 2
      | ^^^^^^^^^
      |
      = help: remove it: a blocked call stays blocked

    3 rules in force; 1 warning.
    --- stderr

    exit 0
    --- stdout
    warning: `max_holds` has no effect: it counts refused calls, and this rule refuses none
     --> .linchpin/rules/a.md:3:1
      |
    3 | max_holds: 2
      | ^^^^^^^^^
      |
      = help: remove it, or write `live: block`

    3 rules in force; 1 warning.
    --- stderr
    "#);
}

#[test]
fn similar_rules_without_a_mistake_are_not_warned_about() {
    for fields in [
        "tools: [Bash, Read]\ncommand_pattern: '^ls'",
        "tools: [shell]\ncommand_pattern: '^ls'",
        "tools: ['*']\ncommand_pattern: '^ls'",
        "command_pattern: '^git .*push .* --force'",
        "command_pattern: '(^|[;&|] *)rm'",
        "command_pattern: '^find .* ; -print'",
        "command_pattern: '--filter=a\\|b'",
        "command_pattern: '^ls( |$)|^cat '",
        "command_pattern: '^(?!.* && )ls'",
        "command_pattern: '^make'\ncommand_not_pattern: ' test'",
        "command_not_pattern: '^make'\nwrites: ['dist/**']",
        "on: stop\naction: block\nmax_holds: 2",
        "phase_timeout: {max_duration: 300}\nlive: block\nmax_holds: 2",
        "repeated_command: {threshold: 3, window: 300}\nlive: block\nmax_holds: 2",
    ] {
        let transcripts = validate_transcript(fields);
        assert!(transcripts.contains("no errors"), "{fields}\n{transcripts}");
    }
}

#[test]
fn commonly_guessed_keys_are_reported_with_the_right_key() {
    let transcripts = ["command: {program: ls, flags: [-l]}", "command_pattern: ^ls\nallow: true", "name: x"];
    insta::assert_snapshot!(transcripts.map(validate_transcript).join("\n"), @"
    exit 2
    --- stdout
    error: unknown key `flags`
     --> .linchpin/rules/a.md:2:24
      |
    2 | command: {program: ls, flags: [-l]}
      |                        ^^^^^
      |
      = help: use `flags_any` or `flags_all`

    2 rules in force; 1 error.
    --- stderr

    exit 2
    --- stdout
    error: unknown key `allow`
     --> .linchpin/rules/a.md:3:1
      |
    3 | allow: true
      | ^^^^^
      |
      = help: write `action: allow`

    2 rules in force; 1 error.
    --- stderr

    exit 2
    --- stdout
    error: the rule has no conditions
     --> .linchpin/rules/a.md:2:1
      |
    2 | name: x
      | ^^^^^^^
      |
      = help: add conditions on tool calls (`tools`, `command`, `command_pattern`, `paths`, `reads`, `writes`, `deletes`) or on changed files (`trigger`, `set`, `pair`, `created`), or list under `on` the events on which the rule is checked

    2 rules in force; 1 error.
    --- stderr
    ");
}

/// Values that lack quotes or a unit, or have the wrong type. The error for each says what to write.
const YAML_MISTAKES: &[(&str, &str)] = &[
    ("alias", "writes: **/*.rs"),
    ("braces", "trigger: {path}.rs"),
    ("colon", "trigger: src/**\nname: Fix: it"),
    ("escape", "command_pattern: \"^git\\s+push\""),
    ("list", "trigger: [src/{path}.rs, *.md]"),
    ("list-of-stars", "trigger: [src/a.rs, *.md]"),
    ("negated", "trigger: '!src/x'"),
    ("sign", "trigger: @scope/**"),
    ("time", "trigger: src/**\naction: {command: x, timeout: 5}"),
    ("words", "command: [git, push]"),
];

#[test]
fn yaml_mistakes_are_reported_with_the_correct_syntax() {
    let project = project();
    project.config("deadline: 2\n");
    for (id, text) in YAML_MISTAKES {
        project.rule(id, &format!("---\n{text}\n---\nNo.\n"));
    }
    let problems = project.run(&["validate", "--json"]).json();
    let problems = problems["problems"].as_array().expect("a list").iter();
    let transcripts = problems.map(|problem| {
        let text = |key: &str| problem[key].as_str().unwrap_or("-").to_owned();
        format!("{}: {}\n    {}", text("file").replace(".linchpin/", ""), text("message"), text("help"))
    });
    insta::assert_snapshot!(transcripts.collect::<Vec<_>>().join("\n"), @r"
    config.yml: `deadline` must be a duration such as `500ms`, `2s`, `5m`, `1h` or `90d`, not `2`
        write `2s` for seconds
    rules/alias.md: invalid YAML: alias references unknown anchor
        put it in single quotes: `'**/*.rs'`
    rules/braces.md: invalid YAML: while parsing a block mapping, did not find expected key
        put it in single quotes: `'{path}.rs'`
    rules/colon.md: invalid YAML: mapping values are not allowed in this context
        put it in single quotes: `'Fix: it'`
    rules/escape.md: invalid YAML: while parsing a quoted scalar, found unknown escape character
        in double quotes `\` starts an escape sequence: use single quotes, or write `\\`
    rules/list-of-stars.md: invalid YAML: alias references unknown anchor
        put it in single quotes: `'*.md'`
    rules/list.md: invalid YAML: while parsing a flow sequence, expected ',' or ']'
        put it in single quotes: `'src/{path}.rs'`
    rules/negated.md: a pattern cannot start with `!`
        to leave paths out, list them under `exclude`; write `\!` for a name that starts with `!`
    rules/sign.md: invalid YAML: unexpected character: `@'
        put it in single quotes: `'@scope/**'`
    rules/time.md: `timeout` must be a duration such as `500ms`, `2s`, `5m`, `1h` or `90d`, not `5`
        write `5s` for seconds
    rules/words.md: `command` must be a mapping or a list of mappings, not a list of words
        write `command: {program: git, subcommand: push}`
    ");
}

#[test]
fn a_missing_rules_dir_is_reported() {
    let project = project();
    project.config("rules_dir: policy\n");
    let reply = project.run(&["validate"]);
    assert_eq!(reply.code, Some(0));
    insta::assert_snapshot!(reply.stdout, @"
    warning: `rules_dir` names `policy`, which does not exist, so no rules are read from there
    --> .linchpin/config.yml
     = help: create `policy` and put the rules there, or correct `rules_dir`

    2 rules in force; 1 warning.
    ");
    let doctor = project.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("note  .linchpin/config.yml: `rules_dir` names `policy`, which does not exist"),
        "{doctor}"
    );
    project.file("policy", "a file\n");
    let reply = project.run(&["validate"]);
    assert_eq!(reply.code, Some(2));
    insta::assert_snapshot!(reply.stdout, @"
    error: this is not a folder, so no rules are read from it
    --> policy

    2 rules in force; 1 error.
    ");
}

#[test]
fn readme_files_in_the_rules_directory_are_not_rules() {
    let project = project();
    for name in ["README", "readme", "Readme", "README.de"] {
        project.rule(name, "# About these rules\n");
    }
    assert_eq!(project.decision("danger"), "allow");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"2 rules in force, no errors.");
    // A README file that begins with frontmatter is a rule, even if it was not one before.
    for name in ["readme", "README"] {
        project.rule(name, "---\ncommand_pattern: '^danger'\n---\nNo.\n");
        assert_eq!(project.decision("danger"), "deny", "{name}");
        assert_eq!(project.run(&["validate"]).stdout, "3 rules in force, no errors.\n", "{name}");
        project.rule(name, "# About these rules\n");
        assert_eq!(project.run(&["validate"]).stdout, "2 rules in force, no errors.\n", "{name}");
    }
    project.rule("readme-first", "# About these rules\n");
    assert_eq!(project.run(&["validate"]).code, Some(2));
}

#[test]
fn an_unreadable_symlink_in_place_of_the_rules_directory_is_an_error() {
    let project = project();
    let rules = project.root().join(".linchpin/rules");
    fs::remove_dir(&rules).expect("an empty directory");
    std::os::unix::fs::symlink("nowhere", &rules).expect("a symlink");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: cannot be read: No such file or directory (os error 2)
    --> .linchpin/rules

    2 rules in force; 1 error.
    --- stderr
    ");
    fs::remove_file(&rules).expect("a symlink");
    let outside = project.home().join("rules");
    fs::create_dir_all(&outside).expect("a directory");
    std::os::unix::fs::symlink(&outside, &rules).expect("a symlink");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: this symlink leads out of the project, so it is not followed
    --> .linchpin/rules

    2 rules in force; 1 error.
    --- stderr
    ");
    fs::remove_file(&rules).expect("a symlink");
    fs::create_dir_all(project.root().join("policy")).expect("a directory");
    std::os::unix::fs::symlink("../policy", &rules).expect("a symlink");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"2 rules in force, no errors.");
}
