//! `rules`: comments and their order are preserved, invalid rules are not written, and agents can only make proposals.

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

use testkit::{Reply, TestProject};

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

pub fn read_file(project: &TestProject, path: &str) -> String {
    fs::read_to_string(project.root().join(path)).expect("a file")
}

pub fn run_with_input(project: &TestProject, arguments: &[&str], input: &str) -> Reply {
    project.run_with_stdin(project.command(arguments), input.as_bytes())
}

pub fn run_as_agent(project: &TestProject, arguments: &[&str], input: &str) -> Reply {
    let mut command = project.command(arguments);
    command.env("CLAUDECODE", "1");
    project.run_with_stdin(command, input.as_bytes())
}

/// Returns every file of the policy, to check that nothing was written.
pub fn policy_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
        if entry.file_type().expect("a type").is_dir() {
            entries.extend(policy_files(&entry.path()));
        } else {
            let text = fs::read(entry.path()).unwrap_or_default();
            entries.push((entry.path().to_string_lossy().into_owned(), text));
        }
    }
    entries.sort();
    entries
}
