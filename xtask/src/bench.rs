//! `cargo xtask bench`: measures how long hooks take, and how their time grows.
//!
//! Whole processes are measured, and commands that are compared run alternately, so that noise affects all of them
//! equally. A ratio of two times from the same run is meaningful on any machine; milliseconds are not.
//!
//! Without options, the results are printed, and nothing fails. `--check` fails if a ratio is more than ten percent
//! above the one in `xtask/bench/ratios.json`. `--write` writes this file and the page `docs/speed.md`.

mod comparison;
mod concurrency;
mod file_rules;
mod growth;
mod hooks;
mod machine;
mod page;
mod peers;
mod project;
mod report;
mod row;
mod timing;
mod workflows;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use self::report::Report;
use crate::process::cargo;

#[derive(PartialEq, Eq)]
enum Output {
    Text,
    Json,
    Check,
    Write,
}

pub fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = match arguments.as_slice() {
        [] => Output::Text,
        ["--json"] => Output::Json,
        ["--check"] => Output::Check,
        ["--write"] => Output::Write,
        ["--against", old] => return compare_with(Path::new(old)),
        _ => bail!("`bench` takes no argument, or one of `--json`, `--check`, `--write` and `--against BINARY`"),
    };
    let directory = tempfile::tempdir()?;
    let binary = build(directory.path())?;
    let report = Report::measure(&binary, output != Output::Json)?;
    match output {
        Output::Text => Ok(()),
        Output::Json => {
            println!("{}", serde_json::to_string_pretty(&report)?);
            Ok(())
        }
        Output::Check => report.check(),
        Output::Write => {
            report.write_ratios()?;
            page::write(&report)
        }
    }
}

fn compare_with(old: &Path) -> Result<()> {
    ensure!(old.is_file(), "there is no binary at {}", old.display());
    let directory = tempfile::tempdir()?;
    let binary = build(directory.path())?;
    let copy = directory.path().join("linchpin-before");
    fs::copy(old, &copy)?;
    comparison::run(&binary, &copy)
}

/// Builds the release binary and returns a copy of it, because users run a copy too. A binary that the linker has just
/// written takes a sixth longer to start, because the page cache holds it in small pages.
fn build(directory: &Path) -> Result<PathBuf> {
    cargo(&["build", "--release", "--quiet", "--package", "linchpin"]).run()?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let binary = directory.join("linchpin");
    fs::copy(Path::new(&target).join("release/linchpin"), &binary)?;
    Ok(binary)
}
