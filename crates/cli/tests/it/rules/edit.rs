//! The command `linchpin rules edit`, and commands on broken files.

use std::fs;

use super::{file_contents, read_file, run_with_input};
use crate::{NO_DANGER, project};

#[test]
fn disabling_a_broken_rule_changes_nothing() {
    let project = project();
    project.rule("twice", "---\non: stop\non: stop\n---\nNo.\n").rule("open", "---\non: [stop\n---\nNo.\n");
    project.rule("bare", "No frontmatter.\n").config("rules: [hard-reset\n");
    let before = file_contents(&project.root());
    let mut replies = Vec::new();
    for id in ["twice", "open", "bare", "hard-reset", "read-secrets", "two", "nothing-like-it"] {
        replies.push(project.run(&["rules", "disable", id]).transcript());
        assert_eq!(file_contents(&project.root()), before);
    }
    insta::assert_snapshot!(replies.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: duplicate key `on`
     --> .linchpin/rules/twice.md:3:1
      |
    3 | on: stop
      | ^^
      |
      = help: the first `on` is in line 2: keep one of them

    error: `.linchpin/rules/twice.md` has errors and was not changed

    exit 2
    --- stdout
    --- stderr
    error: invalid YAML: unclosed bracket '['
     --> .linchpin/rules/open.md:2:5
      |
    2 | on: [stop
      |     ^

    error: `.linchpin/rules/open.md` has errors and was not changed

    exit 2
    --- stdout
    --- stderr
    error: a rule must start with a `---` line
     --> .linchpin/rules/bare.md:1:1
      |
    1 | No frontmatter.
      | ^^^^^^^^^^^^^^^
      |
      = help: put the rule's fields between two `---` lines, and its reason below them

    error: `.linchpin/rules/bare.md` has errors and was not changed

    exit 2
    --- stdout
    --- stderr
    error: invalid YAML: unclosed bracket '['
     --> .linchpin/config.yml:1:8
      |
    1 | rules: [hard-reset
      |        ^

    error: `.linchpin/config.yml` has errors and was not changed

    exit 2
    --- stdout
    --- stderr
    error: invalid YAML: unclosed bracket '['
     --> .linchpin/config.yml:1:8
      |
    1 | rules: [hard-reset
      |        ^

    error: `.linchpin/config.yml` has errors and was not changed

    exit 2
    --- stdout
    --- stderr
    error: there is no rule `two`
    help: `linchpin rules list` lists the rules

    exit 2
    --- stdout
    --- stderr
    error: there is no rule `nothing-like-it`
    help: `linchpin rules list` lists the rules
    ");
}

#[test]
fn an_unrelated_error_does_not_prevent_enable_or_disable() {
    let project = project();
    project.rule("wrong", "---\ntool: Bash\n---\nNo.\n").config("rules: [no-such-rule]\n");
    assert_eq!(project.run(&["rules", "enable", "hard-reset"]).code, Some(0));
    assert_eq!(read_file(&project, ".linchpin/config.yml"), "rules: [no-such-rule, hard-reset]\n");
    assert_eq!(project.run(&["rules", "disable", "wrong"]).code, Some(0));
    assert_eq!(read_file(&project, ".linchpin/rules/wrong.md"), "---\ntool: Bash\nenabled: false\n---\nNo.\n");
    assert_eq!(project.run(&["rules", "delete", "wrong"]).code, Some(0));
}

#[test]
fn only_lines_that_changed_are_shown_as_changed() {
    let project = project();
    let before =
        "---\nname: One\ncommand_pattern: '^danger'\ntags: [a]\naction: block\n---\n\nFirst.\nSecond.\nThird.\n";
    project.rule("no-danger", before);
    let edit = ["rules", "edit", "no-danger", "--file", "-"];
    let after = before.replace("name: One", "name: Two").replace("Second.\nThird.", "Third.\nSecond.");
    insta::assert_snapshot!(run_with_input(&project, &edit, &after).stdout, @"
    .linchpin/rules/no-danger.md
        ---
      - name: One
      + name: Two
        command_pattern: '^danger'
        …
        First.
      - Second.
        Third.
      + Second.

    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    ");
    // If a long text changes in every line, it is shown as completely replaced.
    let long = |word: &str| format!("{after}{}", format!("{word}.\n").repeat(2000));
    run_with_input(&project, &edit, &long("One"));
    insta::assert_snapshot!(run_with_input(&project, &edit, &long("Two")).stdout.lines().rev().take(4).collect::<Vec<_>>().join("\n"), @"
    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).

        … and 3961 more lines
      - One.
    ");
}

#[test]
fn a_rule_is_edited_from_a_file_or_standard_input() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let edit = ["rules", "edit", "no-danger", "--file", "-"];
    insta::assert_snapshot!(run_with_input(&project, &edit, &NO_DANGER.replace("safety", "care")).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/no-danger.md
        ---
      - Danger is not for agents. Use `safety`.
      + Danger is not for agents. Use `care`.

    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    insta::assert_snapshot!(run_with_input(&project, &edit, &NO_DANGER.replace("command_pattern", "comand_pattern")).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown key `comand_pattern`
     --> .linchpin/rules/no-danger.md:2:1
      |
    2 | comand_pattern: '^danger( |$)'
      | ^^^^^^^^^^^^^^
      |
      = help: did you mean `command_pattern`?

    error: nothing was written
    ");
    assert_eq!(read_file(&project, ".linchpin/rules/no-danger.md"), NO_DANGER.replace("safety", "care"));
    project.file("new.md", "---\ncommand_pattern: '^danger'\naction: allow\n---\nFine.\n");
    insta::assert_snapshot!(project.run(&["rules", "edit", "no-danger", "--file", "new.md"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/no-danger.md
        ---
      - command_pattern: '^danger( |$)'
      + command_pattern: '^danger'
      + action: allow
        ---
      - Danger is not for agents. Use `care`.
      + Fine.

    `no-danger` is in force: allow on before_tool, permission (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "edit", "no-danger", "--file", "none.md"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `none.md` cannot be read: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(project.run(&["rules", "edit", "no-danger"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no terminal for an editor
    help: give the new text with `--file FILE`, or `--file -` for standard input
    ");
    insta::assert_snapshot!(project.run(&["rules", "edit", "hard-reset", "--file", "new.md"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hard-reset` is a bundled rule and cannot be edited
    help: to replace it by your own copy, run `linchpin rules export hard-reset --to .`, then `linchpin rules import hard-reset.md`
    ");
    insta::assert_snapshot!(run_with_input(&project, &edit, &"x".repeat(300 * 1024)).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: standard input is larger than 256 KiB
    ");
}

#[test]
fn an_edited_rule_must_be_valid_before_it_is_written() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    // Each run of the editor `editor.sh` writes the next text from `texts`.
    project.file("texts/1", "---\ntool: Bash\n---\nNo.\n").file("texts/2", NO_DANGER.replace("safety", "care"));
    project.file("editor.sh", "text=$(ls texts | head -n 1)\ncp \"texts/$text\" \"$1\" && rm \"texts/$text\"\n");
    let on_terminal = |editor: Option<&str>, typed: &str| {
        let mut command = project.command(&["rules", "edit", "no-danger"]);
        command.env("NO_COLOR", "1").envs(editor.map(|editor| ("EDITOR", editor)));
        project.run_on_terminal(command, typed)
    };
    insta::assert_snapshot!(on_terminal(Some("sh editor.sh"), "\n").transcript(), @"
    exit 0
    --- stdout
    error: unknown key `tool`
     --> .linchpin/rules/no-danger.md:2:1
      |
    2 | tool: Bash
      | ^^^^
      |
      = help: did you mean `tools`?

    error: nothing was written

    Edit it again? [Y/n] .linchpin/rules/no-danger.md
        ---
      - Danger is not for agents. Use `safety`.
      + Danger is not for agents. Use `care`.

    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    assert_eq!(read_file(&project, ".linchpin/rules/no-danger.md"), NO_DANGER.replace("safety", "care"));
    project.file("texts/3", "---\ntool: Bash\n---\nNo.\n");
    let abandoned = on_terminal(Some("sh editor.sh"), "n\n");
    assert_eq!(abandoned.code, Some(2));
    let saved =
        abandoned.stderr.split("saved in `[BASE]/").nth(1).and_then(|rest| rest.split('`').next()).expect("a path");
    let saved = project.root().parent().expect("a directory").join(saved);
    assert_eq!(fs::read_to_string(saved).expect("the text"), "---\ntool: Bash\n---\nNo.\n");
    assert_eq!(read_file(&project, ".linchpin/rules/no-danger.md"), NO_DANGER.replace("safety", "care"));
    insta::assert_snapshot!(on_terminal(Some("true"), "").transcript(), @"
    exit 0
    --- stdout
    Nothing to change.
    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    insta::assert_snapshot!(on_terminal(Some("false"), "").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the editor `false` failed, so nothing was changed: exit status: 1
    help: set `$VISUAL` or `$EDITOR` to an editor that waits until you are done
    ");
    insta::assert_snapshot!(on_terminal(None, "").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no editor is set: `$VISUAL` and `$EDITOR` are empty
    help: set one of them, or give the new text with `--file FILE`
    ");
}
