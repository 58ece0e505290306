//! `doctor` in a submodule.

use insta::assert_snapshot;
use testkit::Scratch;

use crate::project;

/// A folder with a policy of its own inside of a project with one, as a submodule may be.
fn with_submodule() -> Scratch {
    let scratch = project();
    scratch.rule("outer", crate::NO_DANGER).file("part/.linchpin/rules/inner.md", crate::NO_DANGER);
    scratch.file("part/.linchpin/rules/broken.md", "---\ncommand_patern: x\n---\nNo.\n");
    scratch.file("part/.git", "gitdir: ../.git/modules/part\n");
    scratch
}

fn in_part(scratch: &Scratch, arguments: &[&str]) -> testkit::Reply {
    let mut command = scratch.command(arguments);
    command.current_dir(scratch.root().join("part"));
    scratch.feed(command, b"")
}

#[test]
fn in_a_submodule_both_policies_are_told_of() {
    let scratch = with_submodule();
    scratch.run(&["install", "claude"]);
    assert_snapshot!(in_part(&scratch, &["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project
    with the nested policy of [BASE]/project/part

    ok    3 rules in force
    ok    part: 1 rule in force
    bad   part: broken, it is not in force: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
          `linchpin validate` shows every error
    note  no journal yet: it begins with the first event
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    ok    Claude Code: a forged `linchpin trust` was refused
    note  Claude Code: no hooks in [BASE]/project/part, and it may not read those of a folder above it; `linchpin install claude` there adds them
    --- stderr
    ");
    assert_eq!(in_part(&scratch, &["install", "claude"]).code, Some(0));
    assert_snapshot!(in_part(&scratch, &["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project
    with the nested policy of [BASE]/project/part

    ok    3 rules in force
    ok    part: 1 rule in force
    bad   part: broken, it is not in force: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
          `linchpin validate` shows every error
    note  no journal yet: it begins with the first event
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    ok    Claude Code: a forged `linchpin trust` was refused
    ok    Claude Code: hooks in [BASE]/project/part/.claude/settings.json
    ok    Claude Code: a forged `linchpin trust` was refused
    --- stderr
    ");
    // From outside, what is in the folder is not asked about.
    assert_eq!(scratch.run(&["doctor", "--json"]).json()["nested"], serde_json::json!([]));
    assert_snapshot!(in_part(&scratch, &["status"]).transcript(), @"
    exit 0
    --- stdout
    Project [BASE]/project
    Session none yet
    Rules   3 rules in force
      outer                        block  project
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
    Nested  1 rule in force in [BASE]/project/part
      inner                        block  project
      broken, it is not in force: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
    --- stderr
    ");
    let told = in_part(&scratch, &["status", "--json"]).json();
    assert_eq!(told["nested"][0]["rules"][0]["rule"], "inner", "{told}");
}

#[test]
fn hooks_in_a_submodule_are_found_from_there() {
    let scratch = with_submodule();
    assert_eq!(in_part(&scratch, &["install", "claude"]).code, Some(0));
    let told = in_part(&scratch, &["doctor", "--json"]).json()["checks"].to_string();
    assert!(!told.contains("no agent calls Linchpin"), "{told}");
}
