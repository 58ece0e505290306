//! `cargo xtask test [FILTER…]`: builds and runs every test, and ends with `N passed, N failed`.
//!
//! Every run has two additional checks. Fake coding agents come first on `PATH`, and a run fails if a test calls one of
//! them. Processes that outlive the suite that started them are reported and killed.

use std::io::{Write, stdout};
use std::time::Instant;

use anyhow::{Result, bail};

mod fake_agents;
mod leftovers;
mod suite;

use fake_agents::FakeAgents;
use suite::{Counts, Suite};

pub fn run(filters: &[String]) -> Result<()> {
    let suites = Suite::build_all()?;
    let started = Instant::now();
    let (total, problems) = run_all(&suites, filters, &mut stdout())?;
    println!("\nAll suites took {} s.", started.elapsed().as_secs());
    for problem in &problems {
        println!("{problem}");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if !problems.is_empty() {
        bail!("the tests failed");
    }
    Ok(())
}

/// Runs the suites one after the other. Returns their counts, and a line for each problem.
fn run_all(suites: &[Suite], filters: &[String], screen: &mut (dyn Write + Send)) -> Result<(Counts, Vec<String>)> {
    let agents = FakeAgents::create()?;
    leftovers::become_subreaper()?;
    let path = agents.path_with_fakes_first()?;
    let mut total = Counts::default();
    let mut problems = Vec::new();
    for suite in suites {
        println!("\n== {}", suite.name);
        let outcome = suite.run(filters, &path, screen)?;
        total += outcome.counts;
        if !outcome.status.success() {
            let again = suite.command();
            problems.push(format!("{} failed ({}); to run it again: `{again}`", suite.name, outcome.status));
        }
        for process in outcome.leftovers {
            problems.push(format!("{} left a process behind, which was killed: {process}", suite.name));
        }
        for call in agents.take_calls()? {
            problems.push(format!("{} called a coding agent through `PATH`: {call}", suite.name));
        }
    }
    Ok((total, problems))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// This test kills every running child process of the test binary, so no other test of this crate must start one.
    #[test]
    fn failed_suites_leftover_processes_and_agent_calls_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("suite");
        let script = "#!/bin/sh\nclaude --version\nsleep 357 &\necho 'test result: FAILED. 3 passed; 2 failed; 0 ignored'\nexit 101\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let (total, problems) = run_all(&[Suite::of_program(&program)], &[], &mut std::io::sink()).unwrap();
        assert_eq!((total.passed, total.failed), (3, 2));
        let [failed, leftover, call] = problems.as_slice() else { panic!("three problems: {problems:#?}") };
        assert_eq!(failed, "sample failed (exit status: 101); to run it again: `cargo test -p sample --lib`");
        assert_eq!(leftover, "sample left a process behind, which was killed: sleep 357");
        let starts_well = call.starts_with("sample called a coding agent through `PATH`: ");
        assert!(starts_well && call.ends_with("/claude --version"), "{call}");
    }
}
