//! Rules changed by command: comments and order stay, what is not sound is not written, agents only propose.

use std::fs;
use std::path::Path;

use testkit::{Reply, Scratch};

use super::{NO_DANGER, bare, project};

pub const CONFIG: &str = "\
# Settings of the team.

rules: # in force everywhere
  # nobody rewrites history
  - hard-reset
  - read-secrets   # keys

max_holds: 5 # enough
";

pub const COMMENTED: &str = "\
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

pub fn read(project: &Scratch, path: &str) -> String {
    fs::read_to_string(project.root().join(path)).expect("a file")
}

pub fn fed(project: &Scratch, arguments: &[&str], input: &str) -> Reply {
    project.feed(project.command(arguments), input.as_bytes())
}

pub fn by_agent(project: &Scratch, arguments: &[&str], input: &str) -> Reply {
    let mut command = project.command(arguments);
    command.env("CLAUDECODE", "1");
    project.feed(command, input.as_bytes())
}

/// Every file of the policy, to see that nothing was written.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
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
fn a_new_rule_about_tools() {
    let project = project();
    project.config("variables: {release: true}\n");
    let new =
        ["rules", "new", "no-fetch", "--tools", "WebFetch,WebSearch", "--tools", "Task", "--mcp-tools", "github:*"];
    let more = ["--when", "release and tool_name != 'Task'", "--reason", "Not during a release."];
    insta::assert_snapshot!(project.run(&[&new[..], &more].concat()).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/no-fetch.md (new)
      + ---
      + tools: [WebFetch, WebSearch, Task]
      + mcp_tools: ['github:*']
      + when: 'release and tool_name != ''Task'''
      + ---
      + Not during a release.

    `no-fetch` is in force: block on before_tool (.linchpin/rules/no-fetch.md).
    --- stderr
    ");
    let decision = |tool: &str| project.hook("claude", &project.tool(tool, &serde_json::json!({}))).decision();
    assert_eq!(["WebFetch", "mcp__github__merge", "Task"].map(decision), ["deny", "deny", "allow"]);
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

    error: nothing was written

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

    error: nothing was written

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

    error: nothing was written

    exit 2
    --- stdout
    --- stderr
    error: the rule has no way to detect anything
     --> .linchpin/rules/x.md:2:1
      |
    2 | ---
      | ^
      |
      = help: say which `tools`, `command`, `command_pattern`, `paths`, `reads`, `writes` or `deletes` it is about, which files that change (`trigger`, `set`, `pair`, `created`), or `on` which event it is judged

    error: nothing was written

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

    error: nothing was written
    ");
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
