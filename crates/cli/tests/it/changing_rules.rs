//! Rules changed by command: comments and order stay, what is not sound is not written, agents only propose.

use std::fs;
use std::path::Path;

use testkit::{Reply, Scratch};

use super::{NO_DANGER, bare, project};

const CONFIG: &str = "\
# Settings of the team.

rules: # in force everywhere
  # nobody rewrites history
  - hard-reset
  - read-secrets   # keys

max_holds: 5 # enough
";

const COMMENTED: &str = "\
---
# Who: the platform team
name:   'No danger'   # a title
command_pattern: \"^danger( |$)\"
tests:
    - {command: danger, expect: block}   # the plain case

# tags: [later]
---

Danger is not for agents.
---
enabled: maybe
";

fn read(project: &Scratch, path: &str) -> String {
    fs::read_to_string(project.root().join(path)).expect("a file")
}

fn fed(project: &Scratch, arguments: &[&str], input: &str) -> Reply {
    project.feed(project.command(arguments), input.as_bytes())
}

fn by_agent(project: &Scratch, arguments: &[&str], input: &str) -> Reply {
    let mut command = project.command(arguments);
    command.env("CLAUDECODE", "1");
    project.feed(command, input.as_bytes())
}

/// Every file of the policy, to see that nothing was written.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
        if entry.file_type().expect("a type").is_dir() {
            found.extend(files(&entry.path()));
        } else {
            let text = fs::read(entry.path()).unwrap_or_default();
            found.push((entry.path().to_string_lossy().into_owned(), text));
        }
    }
    found.sort();
    found
}

#[test]
fn a_new_rule() {
    let project = project();
    let new = [
        "rules",
        "new",
        "no-danger",
        "--command-pattern",
        "^danger( |$)",
        "--paths",
        "src/**",
        "--paths",
        "it's",
        "--action",
        "ask",
        "--reason",
        "Danger is not for agents. Use `safety`.",
    ];
    insta::assert_snapshot!(project.run(&new).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/no-danger.md (new)
      + ---
      + command_pattern: '^danger( |$)'
      + paths:
      +   - 'src/**'
      +   - 'it''s'
      + action: ask
      + ---
      + Danger is not for agents. Use `safety`.

    `no-danger` is in force: ask on before_tool (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    assert_eq!(project.decision("danger src/a"), "ask");
    insta::assert_snapshot!(project.run(&new).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is a rule `no-danger` already, in the project tier
    help: choose another id
    ");
    insta::assert_snapshot!(project.run(&["rules", "new", "hard-reset", "--on", "stop", "--reason", "No."]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is a rule `hard-reset` already, in the bundled tier
    help: choose another id
    ");
}

#[test]
fn a_new_rule_that_would_not_be_sound_is_not_written() {
    let project = project();
    let before = files(&project.root());
    let mut said = Vec::new();
    for arguments in [
        &["rules", "new", "x", "--command-pattern", "(", "--reason", "No."][..],
        &["rules", "new", "x", "--on", "stpo", "--reason", "No."],
        &["rules", "new", "x", "--on", "stop", "--command-pattern", "x", "--action", "deny", "--reason", "No."],
        &["rules", "new", "x", "--reason", "No."],
        &["rules", "new", "x", "--on", "stpo", "--reason", "No.", "--json"],
    ] {
        let reply = project.run(arguments);
        assert_eq!(files(&project.root()), before, "{arguments:?}");
        said.push(reply.transcript());
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    exit 2
    --- stdout
    --- stderr
    error: bad regex: unclosed group
     --> .linchpin/rules/x.md:2:19
      |
    2 | command_pattern: '('
      |                   ^

    error: nothing was written: bad regex: unclosed group

    exit 2
    --- stdout
    --- stderr
    error: unknown event `stpo`
     --> .linchpin/rules/x.md:2:5
      |
    2 | on: stpo
      |     ^^^^
      |
      = help: did you mean `stop`?

    error: nothing was written: unknown event `stpo`

    exit 2
    --- stdout
    --- stderr
    error: `stop` has no tool call for this rule to be about
     --> .linchpin/rules/x.md:3:5
      |
    3 | on: stop
      |     ^^^^
      |
      = help: tool rules are judged on before_tool, after_tool, tool_failed or permission

    error: `action` is one of `block`, `ask`, `warn`, `allow`, not `deny`
     --> .linchpin/rules/x.md:4:9
      |
    4 | action: deny
      |         ^^^^
      |
      = help: did you mean `block`?

    error: nothing was written: `stop` has no tool call for this rule to be about, and one more error

    exit 2
    --- stdout
    --- stderr
    error: the rule has no way to detect anything
     --> .linchpin/rules/x.md:2:1
      |
    2 | ---
      | ^
      |
      = help: say which `tools`, `command_pattern` or `paths` it is about, or `on` which event it is judged

    error: nothing was written: the rule has no way to detect anything

    exit 2
    --- stdout
    {"error":{"kind":"UnknownEvent","message":"nothing was written: unknown event `stpo`","file":".linchpin/rules/x.md","line":2,"column":5,"rule":"x","help":"did you mean `stop`?"}}
    --- stderr
    "#);
}

#[test]
fn an_id_is_a_file_name_and_no_path() {
    let project = project();
    let before = files(&project.root());
    let mut said = Vec::new();
    for id in ["", "../x", "a/b", "..", ".x", "a b", "x\n", "linchpin", &"x".repeat(5000)] {
        said.push(project.run(&["rules", "new", id, "--on", "stop", "--reason", "No."]).stderr);
        assert_eq!(project.run(&["rules", "enable", id]).code, Some(2), "{id}");
        assert_eq!(files(&project.root()), before, "{id}");
    }
    insta::assert_snapshot!(said.concat(), @"
    error: a rule's id is empty
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit
    error: `../x` cannot be a rule's id
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit
    error: `a/b` cannot be a rule's id
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit
    error: `..` cannot be a rule's id
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit
    error: `.x` cannot be a rule's id
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit
    error: `a b` cannot be a rule's id
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit
    error: `x
    ` cannot be a rule's id
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit
    error: `linchpin` cannot be a rule's id: the guard itself speaks under it
    help: give it another name
    error: a rule's id has at most 100 characters, and this one has 5000
    help: give it a shorter name
    ");
}

#[test]
fn a_markdown_rule_is_switched_off_and_on_without_a_trace() {
    for text in [COMMENTED.to_owned(), COMMENTED.replace('\n', "\r\n"), format!("\u{feff}{}", COMMENTED.trim_end())] {
        let project = project();
        project.rule("no-danger", &text);
        assert_eq!(project.decision("danger"), "deny");
        insta::allow_duplicates! {
            insta::assert_snapshot!(project.run(&["rules", "disable", "no-danger"]).transcript(), @"
            exit 0
            --- stdout
            .linchpin/rules/no-danger.md
                    - {command: danger, expect: block}   # the plain case
              + enabled: false


            `no-danger` is not in force.
            --- stderr
            ");
        }
        let off = read(&project, ".linchpin/rules/no-danger.md");
        let line = if text.contains('\r') { "enabled: false\r\n" } else { "enabled: false\n" };
        assert_eq!(off.replacen(line, "", 1), text);
        assert_eq!(project.run(&["rules", "enable", "no-danger"]).code, Some(0));
        assert_eq!(read(&project, ".linchpin/rules/no-danger.md"), text);
        assert_eq!(project.decision("danger"), "deny");
    }
}

#[test]
fn what_is_already_so_is_left_alone() {
    let project = project();
    project.rule("no-danger", NO_DANGER).config(CONFIG);
    let before = files(&project.root());
    let mut said = Vec::new();
    for arguments in [
        ["rules", "enable", "no-danger"],
        ["rules", "enable", "hard-reset"],
        ["rules", "disable", "force-push-protected"],
        ["rules", "enable", "protect-guardrails"],
    ] {
        said.push(project.run(&arguments).transcript());
        assert_eq!(files(&project.root()), before);
    }
    insta::assert_snapshot!(said.join("\n"), @"
    exit 0
    --- stdout
    Nothing to change.
    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    --- stderr

    exit 0
    --- stdout
    Nothing to change.
    `hard-reset` is in force: block on before_tool (bundled rule hard-reset).
    --- stderr

    exit 0
    --- stdout
    Nothing to change.
    `force-push-protected` is not in force.
    --- stderr

    exit 0
    --- stdout
    Nothing to change.
    `protect-guardrails` is in force: block on before_tool (bundled rule protect-guardrails).
    --- stderr
    ");
}

#[test]
fn a_bundled_rule_is_switched_in_the_configuration() {
    let project = project();
    project.config(CONFIG);
    insta::assert_snapshot!(project.run(&["rules", "enable", "force-push-protected"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/config.yml
          - read-secrets   # keys
      +   - force-push-protected


    `force-push-protected` is in force: block on before_tool (bundled rule force-push-protected).
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "disable", "hard-reset"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/config.yml
        rules: # in force everywhere
      -   # nobody rewrites history
      -   - hard-reset
          - read-secrets   # keys

    `hard-reset` is not in force.
    --- stderr
    ");
    insta::assert_snapshot!(read(&project, ".linchpin/config.yml"), @"
    # Settings of the team.

    rules: # in force everywhere
      - read-secrets   # keys
      - force-push-protected

    max_holds: 5 # enough
    ");
    assert_eq!(project.run(&["rules", "disable", "force-push-protected"]).code, Some(0));
    assert_eq!(
        read(&project, ".linchpin/config.yml"),
        CONFIG.replace("  # nobody rewrites history\n  - hard-reset\n", "")
    );
    insta::assert_snapshot!(project.run(&["rules", "disable", "protect-guardrails"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `protect-guardrails` is locked: it is in force wherever there is a policy
    help: it keeps the guard itself from being switched off
    ");
}

#[test]
fn without_a_configuration_one_begins() {
    let project = project();
    insta::assert_snapshot!(project.run(&["rules", "enable", "hard-reset", "--json"]).transcript(), @r#"
    exit 0
    --- stdout
    {"changed":[{"file":".linchpin/config.yml","before":null,"after":"rules:\n  - hard-reset\n"}],"rules":[{"id":"hard-reset","in_force":true}],"warnings":[]}
    --- stderr
    "#);
    assert_eq!(read(&project, ".linchpin/config.yml"), "rules:\n  - hard-reset\n");
}

#[test]
fn the_users_own_tier() {
    let project = project();
    insta::assert_snapshot!(project.run(&["rules", "enable", "hard-reset", "--user"]).transcript(), @"
    exit 0
    --- stdout
    [BASE]/config/linchpin/config.yml (new)
      + rules:
      +   - hard-reset

    `hard-reset` is in force: block on before_tool (bundled rule hard-reset).
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "disable", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hard-reset` is in force because the user tier names it
    help: pass `--user` to switch it off there
    ");
    project.run(&["rules", "new", "mine", "--user", "--command-pattern", "^danger", "--reason", "No."]);
    assert_eq!(project.decision("danger"), "deny");
    insta::assert_snapshot!(project.run(&["rules", "delete", "mine"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `mine` is a rule of the user tier
    help: pass `--user` to change it
    ");
    insta::assert_snapshot!(project.run(&["rules", "delete", "mine", "--user"]).transcript(), @"
    exit 0
    --- stdout
    [BASE]/config/linchpin/rules/mine.md (deleted)
      - ---
      - command_pattern: '^danger'
      - ---
      - No.

    `mine` is not in force.
    --- stderr
    ");
    let elsewhere = bare();
    insta::assert_snapshot!(elsewhere.run(&["rules", "enable", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `linchpin init` writes one; `--user` means your own
    ");
    assert_eq!(elsewhere.run(&["rules", "enable", "hard-reset", "--user"]).code, Some(0));
    insta::assert_snapshot!(project.run(&["rules", "new", "broken", "--user", "--on", "stpo", "--reason", "No."]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown event `stpo`
     --> [BASE]/config/linchpin/rules/broken.md:2:5
      |
    2 | on: stpo
      |     ^^^^
      |
      = help: did you mean `stop`?

    error: nothing was written: unknown event `stpo`
    ");
}

#[test]
fn what_is_broken_is_mended_by_hand() {
    let project = project();
    project.rule("twice", "---\non: stop\non: stop\n---\nNo.\n").rule("open", "---\non: [stop\n---\nNo.\n");
    project.rule("bare", "No frontmatter.\n").config("rules: [hard-reset\n");
    let before = files(&project.root());
    let mut said = Vec::new();
    for id in ["twice", "open", "bare", "hard-reset", "read-secrets", "two", "nothing-like-it"] {
        said.push(project.run(&["rules", "disable", id]).transcript());
        assert_eq!(files(&project.root()), before);
    }
    insta::assert_snapshot!(said.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: the key `on` is there twice
     --> .linchpin/rules/twice.md:3:1
      |
    3 | on: stop
      | ^

    error: `.linchpin/rules/twice.md` is broken and is left as it is: the key `on` is there twice

    exit 2
    --- stdout
    --- stderr
    error: invalid YAML: unclosed bracket '['
     --> .linchpin/rules/open.md:2:5
      |
    2 | on: [stop
      |     ^

    error: `.linchpin/rules/open.md` is broken and is left as it is: invalid YAML: unclosed bracket '['

    exit 2
    --- stdout
    --- stderr
    error: a rule starts with a `---` line
     --> .linchpin/rules/bare.md:1:1
      |
    1 | No frontmatter.
      | ^^^^^^^^^^^^^^^
      |
      = help: put the rule's fields between two `---` lines, and its reason below them

    error: `.linchpin/rules/bare.md` is broken and is left as it is: a rule starts with a `---` line

    exit 2
    --- stdout
    --- stderr
    error: invalid YAML: unclosed bracket '['
     --> .linchpin/config.yml:1:8
      |
    1 | rules: [hard-reset
      |        ^

    error: `.linchpin/config.yml` is broken and is left as it is: invalid YAML: unclosed bracket '['

    exit 2
    --- stdout
    --- stderr
    error: invalid YAML: unclosed bracket '['
     --> .linchpin/config.yml:1:8
      |
    1 | rules: [hard-reset
      |        ^

    error: `.linchpin/config.yml` is broken and is left as it is: invalid YAML: unclosed bracket '['

    exit 2
    --- stdout
    --- stderr
    error: no rule is named `two`
    help: `linchpin rules list` shows those that there are

    exit 2
    --- stdout
    --- stderr
    error: no rule is named `nothing-like-it`
    help: `linchpin rules list` shows those that there are
    ");
}

#[test]
fn an_error_elsewhere_in_the_file_is_not_in_the_way_of_a_switch() {
    let project = project();
    project.rule("wrong", "---\ntool: Bash\n---\nNo.\n").config("rules: [no-such-rule]\n");
    assert_eq!(project.run(&["rules", "enable", "hard-reset"]).code, Some(0));
    assert_eq!(read(&project, ".linchpin/config.yml"), "rules: [no-such-rule, hard-reset]\n");
    assert_eq!(project.run(&["rules", "disable", "wrong"]).code, Some(0));
    assert_eq!(read(&project, ".linchpin/rules/wrong.md"), "---\ntool: Bash\nenabled: false\n---\nNo.\n");
    assert_eq!(project.run(&["rules", "delete", "wrong"]).code, Some(0));
}

#[test]
fn a_rule_is_deleted_unless_it_is_in_use() {
    let project = project();
    project.rule("no-danger", NO_DANGER).rule("hard-reset", NO_DANGER).config("rules: [no-danger, hard-reset]\n");
    insta::assert_snapshot!(project.run(&["rules", "delete", "no-danger"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `no-danger` is named here
     --> .linchpin/config.yml:1:9
      |
    1 | rules: [no-danger, hard-reset]
      |         ^^^^^^^^^

    error: `no-danger` is still in use: `.linchpin/config.yml` names it
    help: take the name out of the configuration first
    ");
    // The bundled rule of its name answers to it then.
    insta::assert_snapshot!(project.run(&["rules", "delete", "hard-reset"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/hard-reset.md (deleted)
      - ---
      - command_pattern: '^danger( |$)'
      - ---
      - Danger is not for agents. Use `safety`.

    `hard-reset` is in force: block on before_tool (bundled rule hard-reset).
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "delete", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hard-reset` is a bundled rule, which no command deletes
    help: `linchpin rules disable hard-reset` switches it off, unless it is locked
    ");
    project.config("# none\n");
    insta::assert_snapshot!(project.run(&["rules", "delete", "no-danger", "--json"]).transcript(), @r#"
    exit 0
    --- stdout
    {"changed":[{"file":".linchpin/rules/no-danger.md","before":"---\ncommand_pattern: '^danger( |$)'\n---\nDanger is not for agents. Use `safety`.\n","after":null}],"rules":[{"id":"no-danger","in_force":false}],"warnings":[]}
    --- stderr
    "#);
    assert!(!project.root().join(".linchpin/rules/no-danger.md").exists());
}

#[test]
fn an_entry_of_a_library_is_deleted_alone() {
    let project = project();
    let library = "# Shared.\n\n# about one\none:\n  on: stop # here\n  reason: |\n    No.\n\n# about two\ntwo: {on: stop, reason: No.}\n";
    project.file(".linchpin/rules/shared.yml", library);
    insta::assert_snapshot!(project.run(&["rules", "export", "one"]).transcript(), @"
    exit 0
    --- stdout
    # about one
    one:
      on: stop # here
      reason: |
        No.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "delete", "one"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/shared.yml

      - # about one
      - one:
      -   on: stop # here
      -   reason: |
      -     No.
      -
        # about two

    `one` is not in force.
    --- stderr
    ");
    let left = read(&project, ".linchpin/rules/shared.yml");
    assert_eq!(left, "# Shared.\n\n# about two\ntwo: {on: stop, reason: No.}\n");
}

#[test]
fn a_rule_is_edited_from_a_file_or_standard_input() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let edit = ["rules", "edit", "no-danger", "--file", "-"];
    insta::assert_snapshot!(fed(&project, &edit, &NO_DANGER.replace("safety", "care")).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/no-danger.md
        ---
      - Danger is not for agents. Use `safety`.
      + Danger is not for agents. Use `care`.

    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    insta::assert_snapshot!(fed(&project, &edit, &NO_DANGER.replace("command_pattern", "comand_pattern")).transcript(), @"
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

    error: nothing was written: unknown key `comand_pattern`
    ");
    assert_eq!(read(&project, ".linchpin/rules/no-danger.md"), NO_DANGER.replace("safety", "care"));
    project.file("new.md", "---\ncommand_pattern: '^danger'\naction: allow\n---\nFine.\n");
    insta::assert_snapshot!(project.run(&["rules", "edit", "no-danger", "--file", "new.md"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/no-danger.md
        ---
      - command_pattern: '^danger( |$)'
      - ---
      - Danger is not for agents. Use `care`.
      + command_pattern: '^danger'
      + action: allow
      + ---
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
    error: there is no terminal to edit on
    help: give the new text with `--file FILE`, or `--file -` for standard input
    ");
    insta::assert_snapshot!(project.run(&["rules", "edit", "hard-reset", "--file", "new.md"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `hard-reset` is a bundled rule, which cannot be edited
    help: a rule of its name takes its place: `linchpin rules export hard-reset --to .`, then `linchpin rules import hard-reset.md`
    ");
    insta::assert_snapshot!(fed(&project, &edit, &"x".repeat(300 * 1024)).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: standard input is larger than the 256 KiB that are read
    ");
}

#[test]
fn a_rule_is_edited_by_hand_until_it_is_sound() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    // An editor that writes the next of its texts each time.
    project.file("texts/1", "---\ntool: Bash\n---\nNo.\n").file("texts/2", NO_DANGER.replace("safety", "care"));
    project.file("editor.sh", "text=$(ls texts | head -n 1)\ncp \"texts/$text\" \"$1\" && rm \"texts/$text\"\n");
    let on_terminal = |editor: Option<&str>, typed: &str| {
        let mut command = project.command(&["rules", "edit", "no-danger"]);
        command.env("NO_COLOR", "1").envs(editor.map(|editor| ("EDITOR", editor)));
        project.on_terminal(command, typed)
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

    error: nothing was written: unknown key `tool`

    Edit it again? [Y/n] .linchpin/rules/no-danger.md
        ---
      - Danger is not for agents. Use `safety`.
      + Danger is not for agents. Use `care`.

    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    assert_eq!(read(&project, ".linchpin/rules/no-danger.md"), NO_DANGER.replace("safety", "care"));
    project.file("texts/3", "---\ntool: Bash\n---\nNo.\n");
    let given_up = on_terminal(Some("sh editor.sh"), "n\n");
    assert_eq!(given_up.code, Some(2));
    let kept =
        given_up.stderr.split("kept in `[BASE]/").nth(1).and_then(|rest| rest.split('`').next()).expect("a path");
    let kept = project.root().parent().expect("a folder").join(kept);
    assert_eq!(fs::read_to_string(kept).expect("the text"), "---\ntool: Bash\n---\nNo.\n");
    assert_eq!(read(&project, ".linchpin/rules/no-danger.md"), NO_DANGER.replace("safety", "care"));
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

#[test]
fn a_person_is_asked_on_a_terminal() {
    let project = project();
    by_agent(&project, &["rules", "propose", "no-danger", "-"], NO_DANGER);
    let answered = |typed: &str| {
        let mut command = project.command(&["rules", "accept", "no-danger"]);
        command.env("NO_COLOR", "1");
        project.on_terminal(command, typed)
    };
    insta::assert_snapshot!(answered("\n").transcript(), @"
    exit 2
    --- stdout
    .linchpin/agent/proposals/no-danger.md
        ---
        command_pattern: '^danger( |$)'
        ---
        Danger is not for agents. Use `safety`.

    Make it a rule of this project? [y/N] --- stderr
    error: nothing was accepted
    ");
    assert_eq!(project.decision("danger"), "allow");
    assert_eq!(answered("y\n").code, Some(0));
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn what_is_exported_can_be_imported() {
    let one = project();
    one.rule("no-danger", COMMENTED);
    assert_eq!(one.run(&["rules", "export", "no-danger"]).stdout, COMMENTED);
    insta::assert_snapshot!(one.run(&["rules", "export", "no-danger", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: several rules do not go into one file
    help: name a folder for them: `--to DIR`
    ");
    insta::assert_snapshot!(one.run(&["rules", "export", "no-danger", "hard-reset", "--to", "out"]).transcript(), @"
    exit 0
    --- stdout
    [BASE]/project/out/no-danger.md
    [BASE]/project/out/hard-reset.md
    --- stderr
    ");
    insta::assert_snapshot!(one.run(&["rules", "export", "no-danger", "--to", "out"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is a `[BASE]/project/out/no-danger.md` already
    help: export to an empty folder
    ");
    insta::assert_snapshot!(one.run(&["rules", "export", "hard-reset", "--json"]).transcript(), @r#"
    exit 0
    --- stdout
    {"rules":[{"file":"hard-reset.md","text":"---\nname: No hard reset\ndescription: Stops git commands that throw away uncommitted work.\ncommand_pattern: '^git( [^ ]+)* (reset( [^ ]+)* --hard|read-tree( [^ ]+)* --reset)( |$)'\ntags: [git]\n---\nA hard reset throws away work that is nowhere else. Use `git stash`, `git restore FILE` for a single file, or\n`git switch` to another branch; or ask the person.\n"}]}
    --- stderr
    "#);
    let other = project();
    let from = one.root().join("out");
    let from = from.to_string_lossy();
    let imported = other.run(&["rules", "import", &from]);
    assert_eq!(imported.code, Some(0), "{}", imported.transcript());
    assert_eq!(read(&other, ".linchpin/rules/no-danger.md"), COMMENTED);
    assert_eq!(other.decision("danger"), "deny");
    assert_eq!(other.decision("git reset --hard"), "deny");
    let again = other.run(&["rules", "import", &from]).transcript();
    insta::assert_snapshot!(again, @"
    exit 2
    --- stdout
    --- stderr
    error: there is a `.linchpin/rules/hard-reset.md` already
    help: `--force` replaces it
    ");
    fs::write(one.root().join("out/no-danger.md"), NO_DANGER).expect("a file");
    assert_eq!(other.run(&["rules", "import", &from, "--force"]).code, Some(0));
    assert_eq!(read(&other, ".linchpin/rules/no-danger.md"), NO_DANGER);
}

#[test]
fn an_import_is_whole_or_nothing() {
    let project = project();
    project.file("in/a.md", NO_DANGER).file("in/b.md", "---\ntool: Bash\n---\nNo.\n");
    project
        .file("lib/shared.yml", "- no\n- mapping\n")
        .file("note.txt", "x")
        .file("lib2/protect-guardrails.md", NO_DANGER);
    project.file("lib3/odd name.md", NO_DANGER).file("lib4/x.md", [0xff, 0xfe]);
    let before = files(&project.root());
    let mut said = Vec::new();
    for from in ["in", "lib", "lib2", "lib3", "lib4", "note.txt", "nowhere.md", ".linchpin"] {
        said.push(project.run(&["rules", "import", from]).transcript());
        assert_eq!(files(&project.root()), before);
    }
    insta::assert_snapshot!(said.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown key `tool`
     --> .linchpin/rules/b.md:2:1
      |
    2 | tool: Bash
      | ^^^^
      |
      = help: did you mean `tools`?

    error: nothing was written: unknown key `tool`

    exit 2
    --- stdout
    --- stderr
    error: expected a mapping, found a list
     --> lib/shared.yml:1:1
      |
    1 | - no
      | ^

    error: `lib/shared.yml` is broken and is left as it is: expected a mapping, found a list

    exit 2
    --- stdout
    --- stderr
    error: `protect-guardrails` is locked in the bundled tier and cannot be replaced
    --> .linchpin/rules/protect-guardrails.md
     = help: give this rule another name

    error: nothing was written: `protect-guardrails` is locked in the bundled tier and cannot be replaced

    exit 2
    --- stdout
    --- stderr
    error: `odd name` cannot be a rule's id
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit

    exit 2
    --- stdout
    --- stderr
    error: `lib4/x.md` is not UTF-8 text

    exit 2
    --- stdout
    --- stderr
    error: `note.txt` is no rule file
    help: rules are `.md` files, libraries of rules `.yml` files

    exit 2
    --- stdout
    --- stderr
    error: there is no `nowhere.md`

    exit 2
    --- stdout
    --- stderr
    error: there are no rule files in `.linchpin`
    help: rules are `.md` files, libraries of rules `.yml` files
    ");
}

#[test]
fn an_agent_proposes_and_a_person_accepts() {
    let project = project();
    let propose = ["rules", "propose", "no-danger", "-"];
    insta::assert_snapshot!(by_agent(&project, &propose, NO_DANGER).transcript(), @"
    exit 0
    --- stdout
    `no-danger` is proposed, in .linchpin/agent/proposals/no-danger.md.
    It is no rule until a person runs `linchpin rules accept no-danger`.
    --- stderr
    ");
    assert_eq!(read(&project, ".linchpin/agent/proposals/no-danger.md"), NO_DANGER);
    assert_eq!(project.decision("danger"), "allow");
    insta::assert_snapshot!(by_agent(&project, &["rules", "accept", "no-danger", "--yes"], "").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `linchpin rules accept` is for people, and `CLAUDECODE` shows that an agent runs it
    help: run it in a terminal of your own
    ");
    insta::assert_snapshot!(project.run(&["rules", "accept"]).transcript(), @"
    exit 0
    --- stdout
    no-danger

    `linchpin rules accept ID` shows one, and makes it a rule.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "accept", "no-danger"]).transcript(), @"
    exit 2
    --- stdout
    .linchpin/agent/proposals/no-danger.md
        ---
        command_pattern: '^danger( |$)'
        ---
        Danger is not for agents. Use `safety`.

    --- stderr
    error: there is no terminal to ask on
    help: pass `--yes` once you have read the rule
    ");
    assert_eq!(project.decision("danger"), "allow");
    insta::assert_snapshot!(project.run(&["rules", "accept", "no-danger", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/agent/proposals/no-danger.md
        ---
        command_pattern: '^danger( |$)'
        ---
        Danger is not for agents. Use `safety`.

    .linchpin/rules/no-danger.md (new)
      + ---
      + command_pattern: '^danger( |$)'
      + ---
      + Danger is not for agents. Use `safety`.

    `no-danger` is in force: block on before_tool (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    assert_eq!(project.decision("danger"), "deny");
    insta::assert_snapshot!(project.run(&["rules", "accept"]).transcript(), @"
    exit 0
    --- stdout
    Nothing is proposed.
    --- stderr
    ");
    insta::assert_snapshot!(by_agent(&project, &propose, NO_DANGER).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is a rule `no-danger` already, in the project tier
    help: choose another id
    ");
    insta::assert_snapshot!(project.run(&["rules", "accept", "other", "--yes", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"NotFound","message":"nothing is proposed under the id `other`","help":"`linchpin rules accept` lists the proposals"}}
    --- stderr
    "#);
}

#[test]
fn a_hostile_proposal_does_no_harm() {
    let project = project();
    let before = files(&project.root());
    let mut said = Vec::new();
    for (id, text) in [
        ("../../rules/x", NO_DANGER),
        ("protect-guardrails", NO_DANGER),
        ("x", "---\ncommand_pattern: x\n---\nUse \u{1b}[2K\u{1b}[1A care.\n"),
        ("x", "---\ncommand_pattern: x\n---\nUse \u{202e}care\u{202c}.\n"),
        ("x", "---\ncommand_pattern: (\n---\nNo.\n"),
        ("x", &format!("{NO_DANGER}{}", "x".repeat(20_000))),
    ] {
        said.push(by_agent(&project, &["rules", "propose", id, "-"], text).transcript());
        assert_eq!(files(&project.root()), before);
    }
    insta::assert_snapshot!(said.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: `../../rules/x` cannot be a rule's id
    help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit

    exit 2
    --- stdout
    --- stderr
    error: there is a rule `protect-guardrails` already, in the bundled tier
    help: choose another id

    exit 2
    --- stdout
    --- stderr
    error: the proposal has a sign that cannot be seen, U+001B on line 4
    help: a person has to see what they accept

    exit 2
    --- stdout
    --- stderr
    error: the proposal has a sign that cannot be seen, U+202E on line 4
    help: a person has to see what they accept

    exit 2
    --- stdout
    --- stderr
    error: bad regex: unclosed group
     --> .linchpin/agent/proposals/x.md:2:18
      |
    2 | command_pattern: (
      |                  ^

    error: nothing was written: bad regex: unclosed group

    exit 2
    --- stdout
    --- stderr
    error: a proposal has at most 16 KiB, for a person has to read it
    ");
}

#[test]
fn what_an_agent_puts_among_the_proposals_is_not_believed() {
    let project = project();
    let proposals = project.root().join(".linchpin/agent/proposals");
    project
        .file("secret.md", NO_DANGER)
        .file(".linchpin/agent/proposals/seen.md", "---\non: stop\n---\n\u{1b}[8mNo.\n");
    project
        .file(".linchpin/agent/proposals/odd name.md", "x")
        .file(".linchpin/agent/proposals/large.md", vec![b'x'; 20_000]);
    project.file(".linchpin/agent/proposals/broken.md", "---\ntool: Bash\n---\nNo.\n");
    std::os::unix::fs::symlink(project.root().join("secret.md"), proposals.join("linked.md")).expect("a link");
    let before = files(&project.root());
    insta::assert_snapshot!(project.run(&["rules", "accept"]).transcript(), @"
    exit 0
    --- stdout
    broken  cannot be accepted: .linchpin/agent/proposals/broken.md:2:1: unknown key `tool`
    large  cannot be accepted: `.linchpin/agent/proposals/large.md` is larger than the 16 KiB that are read
    linked  cannot be accepted: `.linchpin/agent/proposals/linked.md` is a link or no file at all
    seen  cannot be accepted: the proposal has a sign that cannot be seen, U+001B on line 4

    `linchpin rules accept ID` shows one, and makes it a rule.
    --- stderr
    ");
    let mut said = Vec::new();
    for id in ["seen", "large", "linked", "broken"] {
        said.push(project.run(&["rules", "accept", id, "--yes"]).transcript());
        assert_eq!(files(&project.root()), before);
    }
    insta::assert_snapshot!(said.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: the proposal has a sign that cannot be seen, U+001B on line 4
    help: a person has to see what they accept

    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/agent/proposals/large.md` is larger than the 16 KiB that are read

    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/agent/proposals/linked.md` is a link or no file at all
    help: a proposal is a plain file; delete this one

    exit 2
    --- stdout
    .linchpin/agent/proposals/broken.md
        ---
        tool: Bash
        ---
        No.

    --- stderr
    error: unknown key `tool`
     --> .linchpin/agent/proposals/broken.md:2:1
      |
    2 | tool: Bash
      | ^^^^
      |
      = help: did you mean `tools`?

    error: nothing was written: unknown key `tool`
    ");
}

#[test]
fn no_link_leads_out() {
    let project = project();
    let outside = project.home().join("rules");
    fs::create_dir_all(&outside).expect("a folder");
    fs::write(outside.join("no-danger.md"), NO_DANGER).expect("a file");
    let link = |to: &Path, at: &str| {
        std::os::unix::fs::symlink(to, project.root().join(at)).expect("a link");
    };
    link(&outside.join("no-danger.md"), ".linchpin/rules/no-danger.md");
    link(project.home().as_path(), ".linchpin/agent");
    insta::assert_snapshot!(project.run(&["rules", "disable", "no-danger"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/rules/no-danger.md` is behind a link that leads out of its folder
    help: put the file itself there, or change it where it lies
    ");
    insta::assert_snapshot!(by_agent(&project, &["rules", "propose", "x", "-"], NO_DANGER).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the folder of `.linchpin/agent/proposals/x.md` is a link, and no place for proposals
    help: delete the link
    ");
    fs::remove_file(project.root().join(".linchpin/agent")).expect("a link");
    fs::create_dir(project.root().join(".linchpin/agent")).expect("a folder");
    link(Path::new("../rules"), ".linchpin/agent/proposals");
    insta::assert_snapshot!(by_agent(&project, &["rules", "propose", "x", "-"], NO_DANGER).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the folder of `.linchpin/agent/proposals/x.md` is a link, and no place for proposals
    help: delete the link
    ");
    assert!(!project.root().join(".linchpin/rules/x.md").exists());
    fs::remove_file(project.root().join(".linchpin/rules/no-danger.md")).expect("a link");
    fs::remove_dir(project.root().join(".linchpin/rules")).expect("a folder");
    link(&outside, ".linchpin/rules");
    insta::assert_snapshot!(project.run(&["rules", "new", "x", "--on", "stop", "--reason", "No."]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/rules/x.md` is behind a link that leads out of its folder
    help: put the file itself there, or change it where it lies
    ");
    assert_eq!(fs::read_to_string(outside.join("no-danger.md")).expect("a file"), NO_DANGER);
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
    assert_eq!(fs::read_dir(project.home()).expect("a folder").count(), 1);
}

#[test]
fn a_link_within_the_folder_is_followed_and_the_mode_stays() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    project.rule("real", NO_DANGER);
    let rules = project.root().join(".linchpin/rules");
    fs::set_permissions(rules.join("real.md"), fs::Permissions::from_mode(0o640)).expect("a mode");
    std::os::unix::fs::symlink("real.md", rules.join("alias.md")).expect("a link");
    assert_eq!(project.run(&["rules", "disable", "alias"]).code, Some(0));
    assert!(rules.join("alias.md").is_symlink());
    assert_eq!(project.run(&["rules", "delete", "alias"]).code, Some(0));
    assert!(!rules.join("alias.md").is_symlink());
    assert!(read(&project, ".linchpin/rules/real.md").contains("enabled: false"));
    assert_eq!(fs::metadata(rules.join("real.md")).expect("a file").permissions().mode() & 0o777, 0o640);
}

#[test]
fn what_cannot_be_written_is_said() {
    let project = project();
    fs::remove_dir(project.root().join(".linchpin/rules")).expect("a folder");
    project.file(".linchpin/rules", "a file where the folder should be").config("# none\n");
    insta::assert_snapshot!(project.run(&["rules", "new", "x", "--on", "stop", "--reason", "No."]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/rules/x.md` cannot be written: File exists (os error 17)
    ");
    let config = project.root().join(".linchpin/config.yml");
    fs::remove_file(&config).expect("a file");
    fs::create_dir(&config).expect("a folder");
    insta::assert_snapshot!(project.run(&["rules", "enable", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/config.yml` cannot be read: not a regular file
    ");
}

#[test]
fn a_folder_that_is_read_only_stays_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let rules = project.root().join(".linchpin/rules");
    fs::set_permissions(&rules, fs::Permissions::from_mode(0o555)).expect("a mode");
    // There is no such folder for root.
    if fs::write(rules.join("probe"), "").is_err() {
        for arguments in [["rules", "disable", "no-danger"], ["rules", "delete", "no-danger"]] {
            let reply = project.run(&arguments);
            assert!(reply.stderr.contains("Permission denied"), "{}", reply.stderr);
            assert_eq!(reply.code, Some(2));
        }
        assert_eq!(read(&project, ".linchpin/rules/no-danger.md"), NO_DANGER);
        assert_eq!(fs::read_dir(&rules).expect("a folder").count(), 1);
    }
    fs::set_permissions(&rules, fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn another_rules_folder() {
    let project = project();
    project.config("rules_dir: .deepwork/rules\n");
    insta::assert_snapshot!(project.run(&["rules", "new", "x", "--on", "stop", "--reason", "No."]).transcript(), @"
    exit 0
    --- stdout
    .deepwork/rules/x.md (new)
      + ---
      + on: stop
      + ---
      + No.

    `x` is in force: warn on stop (.deepwork/rules/x.md).
    --- stderr
    ");
    assert!(project.root().join(".deepwork/rules/x.md").is_file());
}

#[test]
fn an_agent_prints_rules_and_nobody_exports_into_a_policy() {
    let project = project();
    assert_eq!(by_agent(&project, &["rules", "export", "hard-reset"], "").code, Some(0));
    std::os::unix::fs::symlink(".linchpin/rules", project.root().join("door")).expect("a link");
    project.config("rules_dir: other/rules\n").file("other/rules/x.md", NO_DANGER);
    let before = files(&project.root());
    let mut said = vec![by_agent(&project, &["rules", "export", "hard-reset", "--to", "out"], "").transcript()];
    for to in [".linchpin/rules", "door", "door/../.linchpin/new", "other/rules", "other/../other/rules/below"] {
        said.push(project.run(&["rules", "export", "hard-reset", "--to", to]).transcript());
        assert_eq!(files(&project.root()), before);
    }
    insta::assert_snapshot!(said.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: `linchpin rules export --to` is for people, and `CLAUDECODE` shows that an agent runs it
    help: run it in a terminal of your own

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/.linchpin/rules` belongs to a policy
    help: `linchpin rules import` brings rules into one

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/door` belongs to a policy
    help: `linchpin rules import` brings rules into one

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/door/../.linchpin/new` belongs to a policy
    help: `linchpin rules import` brings rules into one

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/other/rules` belongs to a policy
    help: `linchpin rules import` brings rules into one

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/other/../other/rules/below` belongs to a policy
    help: `linchpin rules import` brings rules into one
    ");
}

#[test]
fn the_other_commands_are_for_people() {
    let project = project();
    project.rule("no-danger", NO_DANGER).file("x.md", NO_DANGER);
    let before = files(&project.root());
    for arguments in [
        &["rules", "new", "y", "--on", "stop", "--reason", "No."][..],
        &["rules", "edit", "no-danger", "--file", "-"],
        &["rules", "enable", "hard-reset"],
        &["rules", "disable", "no-danger"],
        &["rules", "delete", "no-danger"],
        &["rules", "import", "x.md"],
        &["rules", "accept"],
    ] {
        let reply = by_agent(&project, arguments, "");
        assert_eq!(reply.code, Some(2));
        assert!(reply.stderr.contains("is for people"), "{}", reply.stderr);
        assert_eq!(files(&project.root()), before);
    }
}
