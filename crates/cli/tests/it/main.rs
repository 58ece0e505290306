//! The built binary, used as agents and people use it.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "in a test, what is not as expected ends the test"
)]

mod ack;
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
mod guarding;
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
mod trying;
mod unwritten_output;
mod validate;
mod workflow;
mod written_scripts;

use testkit::Scratch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_linchpin");

/// A project without a policy.
fn bare() -> Scratch {
    Scratch::new(PROGRAM)
}

/// A project with an empty policy.
fn project() -> Scratch {
    Scratch::with_policy(PROGRAM)
}

/// A rule against `danger`.
const NO_DANGER: &str = "---\ncommand_pattern: '^danger( |$)'\n---\nDanger is not for agents. Use `safety`.\n";
