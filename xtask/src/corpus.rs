//! `cargo xtask corpus`: every command of `corpus/commands.jsonl`, as a real hook call in a real project.
//!
//! The other tests say that a part does what it should. This says what comes of it all: how many of the dangerous
//! commands are stopped, and how much honest work is. Nothing in the corpus is ever run.

mod case;
mod project;
mod report;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use crate::process::cargo;
use case::CorpusCase;
use project::CorpusProject;
use report::CorpusReport;

pub fn run(arguments: &[String]) -> Result<()> {
    let as_json = match arguments {
        [] => false,
        [option] if option == "--json" => true,
        _ => bail!("`corpus` takes `--json` and nothing else"),
    };
    let cases = case::read_all(Path::new("corpus/commands.jsonl"))?;
    let project = CorpusProject::build(Path::new("target/corpus"), build()?)?;
    let mut report = CorpusReport::default();
    for case in cases {
        ensure!(is_bundled(&case.policy), "{}: no bundled rule `{}`", case.id, case.policy);
        let verdict = project.judge(&case)?;
        report.add(case, verdict);
    }
    println!("{}", if as_json { report.json().to_string() } else { report.text() });
    let known_misses = case::read_all(Path::new("corpus/not_yet.jsonl"))?;
    if !as_json {
        println!("known to come out wrong (corpus/not_yet.jsonl): {}", known_misses.len());
    }
    ensure!(report.is_within_the_bar(), "under the bar: {}", report::BAR);
    let right = right_by_now(&project, known_misses)?;
    ensure!(right.is_empty(), "right by now, so move to corpus/commands.jsonl: {}", right.join(", "));
    Ok(())
}

/// Cases that are known to come out wrong stand apart, so that the bar can be all of the others. One that comes out right
/// belongs to those.
fn right_by_now(project: &CorpusProject, known_misses: Vec<CorpusCase>) -> Result<Vec<String>> {
    let mut right = Vec::new();
    for case in known_misses {
        if case.expect.is_met_by(&project.judge(&case)?.decision) {
            right.push(case.id);
        }
    }
    Ok(right)
}

fn is_bundled(policy: &str) -> bool {
    policy::bundled_rules().iter().any(|rule| rule.id == policy)
}

fn build() -> Result<PathBuf> {
    cargo(&["build", "--quiet", "--package", "linchpin"]).run()?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    Ok(Path::new(&target).join("debug").join(format!("linchpin{}", std::env::consts::EXE_SUFFIX)).canonicalize()?)
}
