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
mod changed_rules;
mod changing_rules;
mod commands;
mod completions;
mod concurrency;
mod conformance;
mod corpus;
mod cut_short;
mod doctor;
mod documentation;
mod editing_rules;
mod every_agent;
mod explain;
mod failure_policy;
mod file_rules;
mod gates;
mod guarding;
mod hats;
mod hostile;
mod init_and_install;
mod loops;
mod memory;
mod metrics;
mod moving_rules;
mod named_files;
mod observe;
mod observers;
mod old_rules;
mod other_shells;
mod other_spellings;
mod pace;
mod pause;
mod people_only;
mod proposals;
mod replay;
mod scenarios;
mod session_root;
mod setting_variables;
mod tasks;
mod tiers;
mod tokens;
mod toolchains;
mod triggers;
mod trust;
mod trying;
mod unwritten_output;
mod validate;
mod work_errors;
mod work_together;
mod workflows;
mod working;
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
