//! The commands `linchpin rules propose` and `linchpin rules accept`: an agent proposes a rule, and a person accepts or
//! rejects it.

use super::{file_contents, read_file, run_as_agent};
use crate::{NO_DANGER, project};

#[test]
fn accept_asks_on_a_terminal() {
    let project = project();
    run_as_agent(&project, &["rules", "propose", "no-danger", "-"], NO_DANGER);
    let accept_with_input = |typed: &str| {
        let mut command = project.command(&["rules", "accept", "no-danger"]);
        command.env("NO_COLOR", "1");
        project.run_on_terminal(command, typed)
    };
    insta::assert_snapshot!(accept_with_input("\n").transcript(), @"
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
    assert_eq!(accept_with_input("y\n").code, Some(0));
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn an_agent_proposes_and_a_person_accepts() {
    let project = project();
    let propose = ["rules", "propose", "no-danger", "-"];
    insta::assert_snapshot!(run_as_agent(&project, &propose, NO_DANGER).transcript(), @"
    exit 0
    --- stdout
    `no-danger` is proposed, in .linchpin/agent/proposals/no-danger.md.
    It becomes a rule when a person runs `linchpin rules accept no-danger`.
    --- stderr
    ");
    assert_eq!(read_file(&project, ".linchpin/agent/proposals/no-danger.md"), NO_DANGER);
    assert_eq!(project.decision("danger"), "allow");
    insta::assert_snapshot!(run_as_agent(&project, &["rules", "accept", "no-danger", "--yes"], "").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: only people may run `linchpin rules accept`, and `CLAUDECODE` shows that an agent started it
    help: run it in your own terminal
    ");
    insta::assert_snapshot!(project.run(&["rules", "accept"]).transcript(), @"
    exit 0
    --- stdout
    no-danger

    `linchpin rules accept ID` shows a proposal and makes it a rule.
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
    error: cannot ask for confirmation without a terminal
    help: read the rule, then run `linchpin rules accept no-danger --yes`
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
    There are no proposals.
    --- stderr
    ");
    insta::assert_snapshot!(run_as_agent(&project, &propose, NO_DANGER).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `no-danger` already exists in the project tier
    help: choose another id
    ");
    insta::assert_snapshot!(project.run(&["rules", "accept", "other", "--yes", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"NotFound","message":"no proposal has the id `other`","help":"to list the proposals, run `linchpin rules accept`"}}
    --- stderr
    "#);
}

#[test]
fn a_hostile_proposal_is_refused() {
    let project = project();
    let before = file_contents(&project.root());
    let mut replies = Vec::new();
    for (id, text) in [
        ("../../rules/x", NO_DANGER),
        ("protect-guardrails", NO_DANGER),
        ("x", "---\ncommand_pattern: x\n---\nUse \u{1b}[2K\u{1b}[1A care.\n"),
        ("x", "---\ncommand_pattern: x\n---\nUse \u{202e}care\u{202c}.\n"),
        ("x", "---\ncommand_pattern: (\n---\nNo.\n"),
        ("x", &format!("{NO_DANGER}{}", "x".repeat(20_000))),
    ] {
        replies.push(run_as_agent(&project, &["rules", "propose", id, "-"], text).transcript());
        assert_eq!(file_contents(&project.root()), before);
    }
    insta::assert_snapshot!(replies.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: invalid rule id `../../rules/x`
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit

    exit 2
    --- stdout
    --- stderr
    error: rule `protect-guardrails` already exists in the bundled tier
    help: choose another id

    exit 2
    --- stdout
    --- stderr
    error: the proposal has an invisible character, U+001B, on line 4
    help: remove it: a person must see everything that they accept

    exit 2
    --- stdout
    --- stderr
    error: the proposal has an invisible character, U+202E, on line 4
    help: remove it: a person must see everything that they accept

    exit 2
    --- stdout
    --- stderr
    error: invalid regex: unclosed group
     --> .linchpin/agent/proposals/x.md:2:18
      |
    2 | command_pattern: (
      |                  ^

    error: nothing was written

    exit 2
    --- stdout
    --- stderr
    error: the proposal is larger than the limit of 16 KiB; a person has to read it
    ");
}

#[test]
fn files_that_an_agent_adds_to_the_proposals_are_not_trusted() {
    let project = project();
    let proposals = project.root().join(".linchpin/agent/proposals");
    project
        .file("secret.md", NO_DANGER)
        .file(".linchpin/agent/proposals/seen.md", "---\non: stop\n---\n\u{1b}[8mNo.\n");
    project
        .file(".linchpin/agent/proposals/odd name.md", "x")
        .file(".linchpin/agent/proposals/large.md", vec![b'x'; 20_000]);
    project.file(".linchpin/agent/proposals/broken.md", "---\ntool: Bash\n---\nNo.\n");
    std::os::unix::fs::symlink(project.root().join("secret.md"), proposals.join("linked.md")).expect("a symlink");
    let before = file_contents(&project.root());
    insta::assert_snapshot!(project.run(&["rules", "accept"]).transcript(), @"
    exit 0
    --- stdout
    broken  cannot be accepted: .linchpin/agent/proposals/broken.md:2:1: unknown key `tool`
    large  cannot be accepted: `.linchpin/agent/proposals/large.md` is larger than the limit of 16 KiB
    linked  cannot be accepted: `.linchpin/agent/proposals/linked.md` is not a regular file
    seen  cannot be accepted: the proposal has an invisible character, U+001B, on line 4

    `linchpin rules accept ID` shows a proposal and makes it a rule.
    --- stderr
    ");
    let mut replies = Vec::new();
    for id in ["seen", "large", "linked", "broken"] {
        replies.push(project.run(&["rules", "accept", id, "--yes"]).transcript());
        assert_eq!(file_contents(&project.root()), before);
    }
    insta::assert_snapshot!(replies.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: the proposal has an invisible character, U+001B, on line 4
    help: remove it: a person must see everything that they accept

    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/agent/proposals/large.md` is larger than the limit of 16 KiB

    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/agent/proposals/linked.md` is not a regular file
    help: delete it; a proposal must be a regular file, not a symlink

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

    error: nothing was written
    ");
}
