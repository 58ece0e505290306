//! File rules that are wrong, and how that is said.

use super::project;

/// Name, and what stands between the lines.
const BROKEN: &[(&str, &str)] = &[
    ("action-without-command", "trigger: src/**\naction: {run_for: each_match}"),
    ("action-word", "trigger: src/**\naction: {comand: x, command: x}"),
    ("bad-pattern", "trigger: ['src/{', '../x', '/abs', '!not', 'a/{1..3}']"),
    ("command-on-a-tool-rule", "command_pattern: ^x\naction: {command: 'make'}"),
    ("details-without-a-mode", "command_pattern: ^x\ncompare_to: base\nrefire: content\nattribute: tree"),
    ("different-variables", "set: ['src/{path}.py', 'tests/{name}_test.py']"),
    ("empty", "trigger: []"),
    ("empty-command", "trigger: src/**\naction: {command: ''}"),
    ("file-and-all", "trigger: src/**\naction: {command: 'fmt {file}', run_for: all_matches}"),
    ("files-within-a-word", "trigger: src/**\naction: {command: 'fmt --all={files}'}"),
    ("one-member", "set: ['src/{path}.py']"),
    ("pair-of-nothing", "pair: {trigger: 'src/{path}.py'}"),
    ("pair-with-more", "pair: {trigger: 'src/{path}.py', expects: x, safety: y}"),
    ("pair-without-a-mapping", "pair: ['src/{path}.py', 'x']"),
    ("safety-without-trigger", "created: src/**\nsafety: README.md"),
    ("timeout", "trigger: src/**\naction: {command: 'x', timeout: 11m}"),
    ("timeout-of-nothing", "trigger: src/**\naction: {command: 'x', timeout: 0s}"),
    ("two-modes", "trigger: src/**\ncreated: src/**"),
    ("unbound", "pair: {trigger: 'src/{path}.py', expects: ['docs/{name}.md', 'x/{path}']}"),
    ("unclosed-quote", "trigger: src/**\naction: {command: \"fmt 'x\"}"),
    ("wrong-words", "trigger: src/**\ncompare_to: promt\nrefire: file\nattribute: all"),
];

/// These are in force all the same.
const DOUBTFUL: &[(&str, &str)] = &[
    ("bare-folder", "trigger: src/"),
    ("placeholder", "trigger: 'src/{path}.py'\naction: {command: 'fmt {fil} {pth} {json}'}"),
];

#[test]
fn every_error_of_a_file_rule_is_said() {
    let project = project();
    for (id, text) in BROKEN {
        project.rule(id, &format!("---\n{text}\n---\nNo.\n"));
    }
    let reply = project.run(&["validate"]);
    assert_eq!(reply.code, Some(2));
    insta::assert_snapshot!(reply.stdout, @r#"
    error: the `action` has no `command`
     --> .linchpin/rules/action-without-command.md:3:9
      |
    3 | action: {run_for: each_match}
      |         ^

    error: unknown key `comand`
     --> .linchpin/rules/action-word.md:3:10
      |
    3 | action: {comand: x, command: x}
      |          ^^^^^^
      |
      = help: did you mean `command`?

    error: this `{` is not closed
     --> .linchpin/rules/bad-pattern.md:2:16
      |
    2 | trigger: ['src/{', '../x', '/abs', '!not', 'a/{1..3}']
      |                ^
      |
      = help: write `\{` for a literal brace

    error: `..` in a pattern
     --> .linchpin/rules/bad-pattern.md:2:21
      |
    2 | trigger: ['src/{', '../x', '/abs', '!not', 'a/{1..3}']
      |                     ^^
      |
      = help: patterns are relative to the project root, and paths in it never have `..`

    error: a pattern cannot start with `/`
     --> .linchpin/rules/bad-pattern.md:2:29
      |
    2 | trigger: ['src/{', '../x', '/abs', '!not', 'a/{1..3}']
      |                             ^
      |
      = help: paths are relative to the project root

    error: a pattern cannot start with `!`
     --> .linchpin/rules/bad-pattern.md:2:37
      |
    2 | trigger: ['src/{', '../x', '/abs', '!not', 'a/{1..3}']
      |                                     ^
      |
      = help: patterns say what is meant, not what is not; write `\!` for a name that starts with `!`

    error: ranges such as `{1..3}` are not supported
     --> .linchpin/rules/bad-pattern.md:2:47
      |
    2 | trigger: ['src/{', '../x', '/abs', '!not', 'a/{1..3}']
      |                                               ^^^^^^
      |
      = help: list the alternatives, `{1,2,3}`, or use a set, `[1-3]`

    error: a command is an `action` of rules about files that change
     --> .linchpin/rules/command-on-a-tool-rule.md:3:9
      |
    3 | action: {command: 'make'}
      |         ^

    error: `compare_to` says more of `trigger`, `set`, `pair` or `created`, and there is none
     --> .linchpin/rules/details-without-a-mode.md:3:1
      |
    3 | compare_to: base
      | ^^^^^^^^^^

    error: `refire` says more of `trigger`, `set`, `pair` or `created`, and there is none
     --> .linchpin/rules/details-without-a-mode.md:4:1
      |
    4 | refire: content
      | ^^^^^^

    error: `attribute` says more of `trigger`, `set`, `pair` or `created`, and there is none
     --> .linchpin/rules/details-without-a-mode.md:5:1
      |
    5 | attribute: tree
      | ^^^^^^^^^

    error: the members of a `set` must have the same variables as its first, `src/{path}.py`
     --> .linchpin/rules/different-variables.md:2:25
      |
    2 | set: ['src/{path}.py', 'tests/{name}_test.py']
      |                         ^^^^^^^^^^^^^^^^^^^^
      |
      = help: use `pair` for files that depend one way

    error: `command` is empty
     --> .linchpin/rules/empty-command.md:3:19
      |
    3 | action: {command: ''}
      |                   ^^

    error: `trigger` names no files
     --> .linchpin/rules/empty.md:2:1
      |
    2 | trigger: []
      | ^^^^^^^

    error: `{file}` is one file, and the command is run once for all: use `{files}`
     --> .linchpin/rules/file-and-all.md:3:19
      |
    3 | action: {command: 'fmt {file}', run_for: all_matches}
      |                   ^^^^^^^^^^^^

    error: `{files}` may be many arguments, so it has to be one of its own
     --> .linchpin/rules/files-within-a-word.md:3:19
      |
    3 | action: {command: 'fmt --all={files}'}
      |                   ^^^^^^^^^^^^^^^^^^^

    error: a `set` has at least two members
     --> .linchpin/rules/one-member.md:2:1
      |
    2 | set: ['src/{path}.py']
      | ^^^

    error: the `pair` has no `expects`
     --> .linchpin/rules/pair-of-nothing.md:2:7
      |
    2 | pair: {trigger: 'src/{path}.py'}
      |       ^

    error: unknown key `safety`
     --> .linchpin/rules/pair-with-more.md:2:46
      |
    2 | pair: {trigger: 'src/{path}.py', expects: x, safety: y}
      |                                              ^^^^^^

    error: expected a mapping of fields, found a list
     --> .linchpin/rules/pair-without-a-mapping.md:2:7
      |
    2 | pair: ['src/{path}.py', 'x']
      |       ^

    error: `safety` answers a `trigger`, and there is none
     --> .linchpin/rules/safety-without-trigger.md:3:1
      |
    3 | safety: README.md
      | ^^^^^^
      |
      = help: `exclude` takes files out of what a rule is about

    error: `timeout` is more than nothing and at most `10m`
     --> .linchpin/rules/timeout-of-nothing.md:3:33
      |
    3 | action: {command: 'x', timeout: 0s}
      |                                 ^^

    error: `timeout` is more than nothing and at most `10m`
     --> .linchpin/rules/timeout.md:3:33
      |
    3 | action: {command: 'x', timeout: 11m}
      |                                 ^^^

    error: a rule has one of `trigger`, `set`, `pair` and `created`, not `created` and `trigger`
     --> .linchpin/rules/two-modes.md:2:1
      |
    2 | trigger: src/**
      | ^^^^^^^

    error: its trigger does not bind `{name}`
     --> .linchpin/rules/unbound.md:2:50
      |
    2 | pair: {trigger: 'src/{path}.py', expects: ['docs/{name}.md', 'x/{path}']}
      |                                                  ^^^^^^
      |
      = help: the trigger `src/{path}.py` binds `{path}`

    error: a quote in `command` is not closed
     --> .linchpin/rules/unclosed-quote.md:3:19
      |
    3 | action: {command: "fmt 'x"}
      |                   ^^^^^^^^

    error: `compare_to` is one of `base`, `default_tip`, `prompt`, not `promt`
     --> .linchpin/rules/wrong-words.md:3:13
      |
    3 | compare_to: promt
      |             ^^^^^
      |
      = help: did you mean `prompt`?

    error: `refire` is one of `files`, `content`, not `file`
     --> .linchpin/rules/wrong-words.md:4:9
      |
    4 | refire: file
      |         ^^^^
      |
      = help: did you mean `files`?

    error: `attribute` is one of `session`, `tree`, not `all`
     --> .linchpin/rules/wrong-words.md:5:12
      |
    5 | attribute: all
      |            ^^^

    2 rules in force; 29 errors.
    "#);
    // Each of them, and none that is only doubtful.
    let said = project.run(&["validate", "--json"]).json();
    for (id, _) in BROKEN {
        let is_said = said["problems"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|problem| problem.to_string().contains(&format!("{id}.md")));
        assert!(is_said, "{id}");
    }
}

#[test]
fn what_is_doubtful_is_in_force_and_said() {
    let project = project();
    for (id, text) in DOUBTFUL {
        project.rule(id, &format!("---\n{text}\n---\nNo.\n"));
    }
    project.run(&["trust", "--yes"]);
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    warning: a folder alone matches no file; did you mean `src/**`?
     --> .linchpin/rules/bare-folder.md:2:10
      |
    2 | trigger: src/
      |          ^^^^

    warning: `{fil}` stands for nothing here
     --> .linchpin/rules/placeholder.md:3:19
      |
    3 | action: {command: 'fmt {fil} {pth} {json}'}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `file`?

    warning: `{pth}` stands for nothing here
     --> .linchpin/rules/placeholder.md:3:19
      |
    3 | action: {command: 'fmt {fil} {pth} {json}'}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `path`?

    4 rules in force; 3 warnings.
    --- stderr
    ");
}
