//! Errors in file rules.

use super::project;

/// Rules with errors: the id and the frontmatter of each.
const BROKEN: &[(&str, &str)] = &[
    ("action-without-command", "trigger: src/**\naction: {run_for: each_match}"),
    ("action-word", "trigger: src/**\naction: {comand: x, command: x}"),
    ("bad-pattern", "trigger: ['src/{', '../x', '/abs', '!not', 'a/{1..3}']"),
    ("command-on-a-tool-rule", "command_pattern: ^x\naction: {command: 'make'}"),
    ("details-without-a-mode", "command_pattern: ^x\ncompare_to: base\nrefire: content\nattribute: tree"),
    ("different-variables", "set: ['src/{path}.py', 'tests/{name}_test.py']"),
    ("empty", "trigger: []"),
    ("empty-command", "trigger: src/**\naction: {command: ''}"),
    ("empty-command-list", "trigger: src/**\naction: {command: []}"),
    ("file-and-files", "trigger: src/**\naction: {command: 'fmt {file} {files}'}"),
    ("file-and-all", "trigger: src/**\naction: {command: 'fmt {file}', run_for: all_matches}"),
    ("files-and-each", "trigger: src/**\naction: {command: 'fmt {files}', run_for: each_match}"),
    ("files-within-a-word", "trigger: src/**\naction: {command: 'fmt --all={files}'}"),
    ("one-member", "set: ['src/{path}.py']"),
    ("pair-of-nothing", "pair: {trigger: 'src/{path}.py'}"),
    ("pair-with-more", "pair: {trigger: 'src/{path}.py', expects: x, safety: y}"),
    ("pair-without-a-mapping", "pair: ['src/{path}.py', 'x']"),
    ("safety-half-bound", "trigger: ['src/{path}.py', 'lib/**']\nsafety: 'docs/{path}.md'"),
    ("safety-misspelt", "trigger: 'src/{path}.py'\nsafety: ['docs/{pth}.md', 'notes/{date}.md']"),
    ("safety-without-trigger", "created: src/**\nsafety: README.md"),
    ("timeout", "trigger: src/**\naction: {command: 'x', timeout: 11m}"),
    ("timeout-of-nothing", "trigger: src/**\naction: {command: 'x', timeout: 0s}"),
    ("two-modes", "trigger: src/**\ncreated: src/**"),
    ("unbound", "pair: {trigger: 'src/{path}.py', expects: ['docs/{name}.md', 'x/{path}']}"),
    ("unclosed-quote", "trigger: src/**\naction: {command: \"fmt 'x\"}"),
    ("wrong-words", "trigger: src/**\ncompare_to: promt\nrefire: file\nattribute: all"),
];

/// Rules with warnings that are in force nevertheless: the id and the frontmatter of each.
const WITH_WARNINGS: &[(&str, &str)] = &[
    ("bare-folder", "trigger: src/"),
    ("folder", "name: In src\ntrigger: [docs/**, src]\nexclude: src/gen"),
    ("placeholder", "trigger: 'src/{path}.py'\naction: {command: \"fmt {fil} {pth} {json} '{a,b}'\"}"),
    ("placeholder-in-the-text", "trigger: 'src/{path}.py'\n---\nMend {trigger_file} of {pth} and {file}, or {x}."),
    ("safety-unbound", "trigger: src/**\nsafety: 'docs/{path}.md'"),
];

#[test]
fn every_error_of_a_file_rule_is_reported() {
    let project = project();
    for (id, text) in BROKEN {
        project.rule(id, &format!("---\n{text}\n---\nNo.\n"));
    }
    let reply = project.run(&["validate"]);
    assert_eq!(reply.code, Some(2));
    insta::assert_snapshot!(reply.stdout);
    // All of these rules have errors, and none of the rules with warnings has one.
    let report = project.run(&["validate", "--json"]).json();
    for (id, _) in BROKEN {
        let is_reported = report["problems"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|problem| problem.to_string().contains(&format!("{id}.md")));
        assert!(is_reported, "{id}");
    }
}

#[test]
fn rules_with_warnings_are_in_force() {
    let project = project();
    for (id, text) in WITH_WARNINGS {
        project.rule(id, &format!("---\n{text}\n---\nNo.\n"));
    }
    project.file("src/a.py", "a\n");
    project.run(&["trust", "--yes"]);
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 0
    --- stdout
    warning: a directory alone matches no file; did you mean `src/**`?
     --> .linchpin/rules/bare-folder.md:2:10
      |
    2 | trigger: src/
      |          ^^^^

    warning: unknown placeholder `{trigger_file}`
     --> .linchpin/rules/placeholder-in-the-text.md:4:6
      |
    4 | Mend {trigger_file} of {pth} and {file}, or {x}.
      |      ^^^^^^^^^^^^^^
      |
      = help: did you mean `trigger_files`?

    warning: unknown placeholder `{pth}`
     --> .linchpin/rules/placeholder-in-the-text.md:4:24
      |
    4 | Mend {trigger_file} of {pth} and {file}, or {x}.
      |                        ^^^^^
      |
      = help: did you mean `path`?

    warning: unknown placeholder `{file}`
     --> .linchpin/rules/placeholder-in-the-text.md:4:34
      |
    4 | Mend {trigger_file} of {pth} and {file}, or {x}.
      |                                  ^^^^^^
      |
      = help: this placeholder is for commands; in the text, use `{trigger_files}`

    warning: unknown placeholder `{fil}`
     --> .linchpin/rules/placeholder.md:3:19
      |
    3 | action: {command: "fmt {fil} {pth} {json} '{a,b}'"}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `file`?

    warning: unknown placeholder `{pth}`
     --> .linchpin/rules/placeholder.md:3:19
      |
    3 | action: {command: "fmt {fil} {pth} {json} '{a,b}'"}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `path`?

    warning: unknown placeholder `{json}`
     --> .linchpin/rules/placeholder.md:3:19
      |
    3 | action: {command: "fmt {fil} {pth} {json} '{a,b}'"}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: the program gets this text unchanged; known placeholders: `{file}`, `{files}`, `{repo_root}` and `{path}`

    warning: `{path}` is in no `trigger`, so one changed file that matches `docs/{path}.md` satisfies the rule for all triggers
     --> .linchpin/rules/safety-unbound.md:3:9
      |
    3 | safety: 'docs/{path}.md'
      |         ^^^^^^^^^^^^^^^^
      |
      = help: if that is intended, write `*` or `**` instead of `{path}`; otherwise use `{path}` in `trigger` too

    warning: `src` is a folder, so this pattern matches no file
     --> .linchpin/rules/folder.md:3:20
      |
    3 | trigger: [docs/**, src]
      |                    ^^^
      |
      = help: did you mean `src/**`?

    note: file rules are off: [BASE]/project is not in a git repository

    7 rules in force; 9 warnings.
    --- stderr
    "#);
}

#[test]
fn a_tool_rule_that_names_only_a_directory_is_warned_about() {
    let project = project();
    project.file("src/a.py", "").file("docs/a.md", "").file("tests/a.py", "");
    project.rule("written", "---\nwrites: src\n---\nNo.\n").rule("read", "---\nreads: ./docs\n---\nNo.\n");
    project.rule("deleted", "---\ndeletes: tests\n---\nNo.\n");
    let report = project.run(&["validate"]).stdout;
    let warnings: Vec<&str> = report.lines().filter(|line| line.starts_with("warning:")).collect();
    insta::assert_snapshot!(warnings.join("\n"), @"
    warning: `./docs` is a folder, so this pattern matches no file
    warning: `src` is a folder, so this pattern matches no file
    ");
}

#[test]
fn rules_in_a_subdirectory_are_reported_as_ignored() {
    let project = project();
    project.file(".linchpin/rules/sub/a.md", "---\ntrigger: src/**\n---\nNo.\n");
    project.file(".linchpin/rules/notes/a.txt", "No rule.");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    warning: the rules in this folder are not read
    --> .linchpin/rules/sub
     = help: move the rules up into the rules folder; to group rules, write a library (`NAME.yml`)

    2 rules in force; 1 warning.
    --- stderr
    ");
    let doctor = project.run(&["doctor"]).stdout;
    assert!(doctor.contains(".linchpin/rules/sub: the rules in this folder are not read"), "{doctor}");
}

#[test]
fn an_unknown_file_rule_in_an_expression_is_warned_about() {
    let project = project();
    let stop_rule = |name: &str| format!("---\non: stop\naction: block\nwhen: not file_rule_met('{name}')\n---\nNo.\n");
    project.rule("asks", &stop_rule("nope"));
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    warning: no file rule `nope` is in force, so this `when` cannot be evaluated, and the rule counts as matched
     --> .linchpin/rules/asks.md:4:26
      |
    4 | when: not file_rule_met('nope')
      |                          ^^^^
      |
      = help: no file rule is in force

    3 rules in force; 1 warning.
    ");
    project.rule("readme", super::README_RULE).rule("asks", &stop_rule("raedme"));
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    warning: no file rule `raedme` is in force, so this `when` cannot be evaluated, and the rule counts as matched
     --> .linchpin/rules/asks.md:4:26
      |
    4 | when: not file_rule_met('raedme')
      |                          ^^^^^^
      |
      = help: did you mean `readme`?

    note: file rules are off: [BASE]/project is not in a git repository

    4 rules in force; 1 warning.
    ");
    project.rule("asks", &stop_rule("readme"));
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    note: file rules are off: [BASE]/project is not in a git repository

    4 rules in force, no errors.
    ");
}

#[test]
fn a_readme_in_the_rules_directory_is_not_a_rule() {
    let project = super::repository();
    project.rule("readme", super::README_RULE);
    project.hook("claude", &project.bash_payload("true"));
    project.file(".linchpin/rules/README.md", "# Our rules\n\nEach has an owner.\n");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    3 rules in force, no errors.
    --- stderr
    ");
    assert_eq!(project.hook("claude", &project.bash_payload("true")).stdout, "");
    let listed = project.run(&["rules", "list", "--json"]).stdout;
    assert!(listed.contains("\"readme\"") && !listed.contains("README.md\""), "{listed}");
    // A directory that contains only a README contains no rules.
    project.file(".linchpin/rules/old/README.md", "# Old\n");
    assert_eq!(project.run(&["validate"]).stdout, "3 rules in force, no errors.\n");
}
