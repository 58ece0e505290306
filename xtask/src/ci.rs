//! `cargo xtask ci`: all checks that must pass before a change is merged.

use anyhow::{Result, bail};

use crate::process::cargo;
use crate::{corpus, generate, structure, test};

/// Crates that the hook must not depend on, because every tool call of an agent waits for the hook.
const FORBIDDEN_FOR_HOOK: &[&str] = &["axum", "clap", "hyper", "postgres", "ratatui", "reqwest", "tokio", "ureq"];

pub fn run() -> Result<()> {
    step("formatting");
    cargo(&["fmt", "--all", "--check"]).run()?;
    step("lints");
    cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]).run()?;
    step("dependencies of the hook path");
    check_hook_dependencies()?;
    step("structure");
    structure::run()?;
    step("tests");
    test::run(&[])?;
    step("corpus");
    corpus::run(&[])?;
    step("generated files");
    generate::run(generate::GenerateMode::Check)
}

#[expect(clippy::print_stderr, reason = "a person follows the progress on stderr")]
fn step(name: &str) {
    eprintln!("\n== {name}");
}

fn check_hook_dependencies() -> Result<()> {
    let tree = cargo(&["tree", "--package", "linchpin-guard", "--edges", "normal", "--prefix", "none"]).output()?;
    let found: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| FORBIDDEN_FOR_HOOK.contains(name))
        .collect();
    if !found.is_empty() {
        bail!("the hook path must not depend on {}", found.join(", "));
    }
    Ok(())
}
