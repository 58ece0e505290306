//! `linchpin rules`: comments in the changed files are preserved, invalid rules are not written, and agents can only
//! make proposals.

mod delete;
mod edit;
mod enable;
mod export_and_import;
mod import_deepwork;
mod new;
mod propose;
mod target;

use std::fs;
use std::path::Path;

use testkit::{ProcessOutput, TestProject};

/// A configuration with comments.
pub const CONFIG: &str = "\
# Settings of the team.

rules: # in force everywhere
  # never rewrite history
  - hard-reset
  - read-secrets   # keys

max_holds: 5 # enough
";

/// A rule with comments and unusual spacing. Its text contains a line that looks like the end of the frontmatter.
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

pub fn read_file(project: &TestProject, path: &str) -> String {
    fs::read_to_string(project.root().join(path)).expect("a file")
}

pub fn run_with_input(project: &TestProject, arguments: &[&str], input: &str) -> ProcessOutput {
    project.run_with_stdin(project.command(arguments), input.as_bytes())
}

pub fn run_as_agent(project: &TestProject, arguments: &[&str], input: &str) -> ProcessOutput {
    let mut command = project.command(arguments);
    command.env("CLAUDECODE", "1");
    project.run_with_stdin(command, input.as_bytes())
}

/// Returns every file below this directory with its contents, to check that nothing was written.
pub fn file_contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").filter_map(Result::ok) {
        if entry.file_type().expect("a type").is_dir() {
            entries.extend(file_contents(&entry.path()));
        } else {
            let text = fs::read(entry.path()).unwrap_or_default();
            entries.push((entry.path().to_string_lossy().into_owned(), text));
        }
    }
    entries.sort();
    entries
}

#[test]
fn every_command_says_the_same_of_an_unknown_rule() {
    let project = crate::project();
    project.decision("ls");
    for arguments in [
        &["rules", "which"][..],
        &["rules", "show"],
        &["rules", "edit", "--file", "-"],
        &["rules", "enable"],
        &["rules", "disable"],
        &["rules", "delete"],
        &["rules", "export"],
        &["test"],
        &["check", "--rule"],
        &["ack", "--reason=x"],
        &["log", "--rule"],
    ] {
        for (name, help) in
            [("nope", "`linchpin rules list` lists the rules"), ("hard-rest", "did you mean `hard-reset`?")]
        {
            let arguments: Vec<&str> = arguments.iter().copied().chain([name]).collect();
            let reply = project.run(&arguments);
            let expected = format!("exit 2\n--- stdout\n--- stderr\nerror: there is no rule `{name}`\nhelp: {help}\n");
            assert_eq!(reply.transcript(), expected, "{arguments:?}");
        }
    }
}

#[test]
fn check_and_ack_say_why_a_rule_is_not_in_force() {
    let project = crate::project();
    insta::assert_snapshot!(project.run(&["check", "--rule", "hard-reset"]).stderr, @"error: rule `hard-reset` is not in force: not named in config");
    insta::assert_snapshot!(project.run(&["ack", "hard-reset", "--reason", "x"]).stderr, @"error: rule `hard-reset` is not in force: not named in config");
    insta::assert_snapshot!(project.run(&["check", "--rule", "protect-guardrails"]).stderr, @"
    error: rule `protect-guardrails` is not a file rule, so `check` does not judge it
    help: name a file rule, or leave out `--rule` to check all of them
    ");
}
