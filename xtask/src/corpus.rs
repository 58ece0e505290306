//! `cargo xtask corpus`: judges every command of `corpus/commands.jsonl` by a real hook call in a real project.
//!
//! Other tests check single parts. This one measures the overall result: how many dangerous commands are stopped, and
//! how many harmless ones are. No command of the corpus is ever run.

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

/// Returns known misses whose decision is now right. Known misses are in a separate file, so that all other cases must
/// pass. A case that is right now has to move to those.
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
