//! `cargo xtask corpus`: every command of `corpus/commands.jsonl`, as a real hook call in a real project.
//!
//! The other tests say that a part does what it should. This says what comes of it all: how many of the dangerous
//! commands are stopped, and how much honest work is. Nothing in the corpus is ever run.

mod case;
mod report;
mod stage;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use crate::process::cargo;
use report::Report;
use stage::Stage;

pub fn run(arguments: &[String]) -> Result<()> {
    let as_json = match arguments {
        [] => false,
        [option] if option == "--json" => true,
        _ => bail!("`corpus` takes `--json` and nothing else"),
    };
    let cases = case::read_all(Path::new("corpus/commands.jsonl"))?;
    let stage = Stage::build(Path::new("target/corpus"), build()?)?;
    let mut report = Report::default();
    for case in cases {
        ensure!(is_bundled(&case.policy), "{}: no bundled rule `{}`", case.id, case.policy);
        let verdict = stage.judge(&case)?;
        report.add(case, verdict);
    }
    println!("{}", if as_json { report.json().to_string() } else { report.text() });
    if !as_json {
        println!("{}", known_misses(&stage)?);
    }
    if !report.is_within_the_bar() {
        bail!("under the bar: {}", report::BAR);
    }
    Ok(())
}

/// Cases that are known to come out wrong stand apart, so that nobody takes the bar for more than it is. One that comes
/// out right belongs to the others.
fn known_misses(stage: &Stage) -> Result<String> {
    let cases = case::read_all(Path::new("corpus/not_yet.jsonl"))?;
    let all = cases.len();
    let mut right = Vec::new();
    for case in cases {
        if case.expect.is_met_by(&stage.judge(&case)?.decision) {
            right.push(case.id);
        }
    }
    let news = if right.is_empty() { String::new() } else { format!("; right by now: {}", right.join(", ")) };
    Ok(format!("known to come out wrong (corpus/not_yet.jsonl): {} of {all}{news}", all - right.len()))
}

fn is_bundled(policy: &str) -> bool {
    policy::bundled_rules().iter().any(|rule| rule.id == policy)
}

fn build() -> Result<PathBuf> {
    cargo(&["build", "--quiet", "--package", "linchpin"]).run()?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    Ok(Path::new(&target).join("debug").join(format!("linchpin{}", std::env::consts::EXE_SUFFIX)).canonicalize()?)
}
