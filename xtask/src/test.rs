//! `cargo xtask test [FILTER…]`: builds and runs every test, and ends with `N passed, N failed`.
//!
//! Two checks go with each run. Fakes of all coding agents stand in front of `PATH`, and no test may call one. Processes
//! that outlive the suite that started them are found, named and killed.

use std::time::Instant;

use anyhow::{Result, bail};

mod fake_agents;
mod leftovers;
mod suite;

use fake_agents::FakeAgents;
use suite::{Counts, Suite};

pub fn run(filters: &[String]) -> Result<()> {
    let agents = FakeAgents::make()?;
    leftovers::adopt()?;
    let path = agents.in_front_of_path()?;
    let mut total = Counts::default();
    let mut faults = Vec::new();
    let began = Instant::now();
    for suite in Suite::build_all()? {
        println!("\n== {}", suite.name);
        let outcome = suite.run(filters, &path)?;
        total += outcome.counts;
        if !outcome.status.success() {
            faults.push(format!("{} failed ({}); again: {}", suite.name, outcome.status, suite.command()));
        }
        for process in outcome.leftovers {
            faults.push(format!("{} left a process behind, which has been killed: {process}", suite.name));
        }
        for call in agents.take_calls()? {
            faults.push(format!("{} called an agent of the machine: {call}", suite.name));
        }
    }
    println!("\nAll suites took {} s.", began.elapsed().as_secs());
    for fault in &faults {
        println!("{fault}");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if !faults.is_empty() {
        bail!("the tests failed");
    }
    Ok(())
}
