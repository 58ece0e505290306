//! Tests the built binary as agents and people use it.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test should panic at an unexpected result"
)]

mod ack;
mod agent_scripts;
mod allow;
mod always_on;
mod bad_input;
mod bundled;
mod cases;
mod commands;
mod completions;
mod concurrency;
mod conformance;
mod corpus;
mod doctor;
mod documentation;
mod explain;
mod failure_policy;
mod file_rules;
mod foreign_policies;
mod hats;
mod hostile_repository;
mod init_and_install;
mod installed_hooks;
mod loops;
mod memory;
mod metrics;
mod named_files;
mod observe_mode;
mod observers;
mod other_shells;
mod pace;
mod pause;
mod people_only;
mod replay;
mod rules;
mod scenarios;
mod session_policy;
mod session_root;
mod tasks;
mod tiers;
mod tokens;
mod trust;
mod try_command;
mod unwritten_output;
mod validate;
mod verdicts;
mod workflow;

use testkit::TestProject;

const PROGRAM: &str = env!("CARGO_BIN_EXE_linchpin");

/// A project without a policy.
fn project_without_policy() -> TestProject {
    TestProject::new(PROGRAM)
}

/// A project with an empty policy.
fn project() -> TestProject {
    TestProject::with_policy(PROGRAM)
}

/// A rule that refuses the command `danger`.
const NO_DANGER: &str = "---\ncommand_pattern: '^danger( |$)'\n---\nDanger is not for agents. Use `safety`.\n";
