//! `cargo xtask corpus`: judges every command of `corpus/commands.jsonl` by a real hook call in a real project.
//!
//! Other tests check parts of Linchpin. This task measures the overall result: how many dangerous commands are refused,
//! and how many harmless ones are allowed. No command of the corpus is ever run.

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
        _ => bail!("`corpus` takes no arguments except `--json`"),
    };
    let cases = case::read_all(Path::new("corpus/commands.jsonl"))?;
    let project = CorpusProject::build(Path::new("target/corpus"), build()?)?;
    let mut report = CorpusReport::default();
    for case in cases {
        ensure!(is_bundled(&case.rule), "{}: no bundled rule `{}`", case.id, case.rule);
        let verdict = project.judge(&case)?;
        report.add(case, verdict);
    }
    println!("{}", if as_json { report.json().to_string() } else { report.text() });
    let known_misses = case::read_all(Path::new("corpus/not_yet.jsonl"))?;
    if !as_json {
        println!("known misses (corpus/not_yet.jsonl): {}", known_misses.len());
    }
    ensure!(report.passes(), "not all cases passed: {}", report::REQUIREMENT);
    let correct = newly_correct(&project, known_misses)?;
    ensure!(correct.is_empty(), "now decided correctly, so move them to corpus/commands.jsonl: {}", correct.join(", "));
    Ok(())
}

/// Returns the known misses that are now decided correctly. Known misses are kept in a separate file, because every
/// other case must pass. A known miss that is now decided correctly has to move to the file of the other cases.
fn newly_correct(project: &CorpusProject, known_misses: Vec<CorpusCase>) -> Result<Vec<String>> {
    let mut correct = Vec::new();
    for case in known_misses {
        if case.expect.is_met_by(&project.judge(&case)?.decision) {
            correct.push(case.id);
        }
    }
    Ok(correct)
}

fn is_bundled(id: &str) -> bool {
    policy::bundled_rules().iter().any(|rule| rule.id == id)
}

fn build() -> Result<PathBuf> {
    cargo(&["build", "--quiet", "--package", "linchpin"]).run()?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    Ok(Path::new(&target).join("debug").join(format!("linchpin{}", std::env::consts::EXE_SUFFIX)).canonicalize()?)
}
