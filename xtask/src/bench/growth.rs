//! Measures how the time of a command grows with one quantity.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use super::file_rules::BenchTree;
use super::project::BenchProject;
use super::timing::{interleaved_medians, milliseconds, time};

const ROUNDS: usize = 50;
const TREE_ROUNDS: usize = 10;

/// The median times of a command at several sizes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    pub name: String,
    /// Each size, with the time in milliseconds.
    pub points: Vec<(usize, f64)>,
    /// The exponent of the power of the size that fits the times best: 0 if the time does not depend on the size, 1 if
    /// it is proportional.
    pub exponent: f64,
}

impl Curve {
    fn new(name: &str, sizes: &[usize], times: &[Duration]) -> Self {
        let points: Vec<(usize, f64)> = sizes.iter().copied().zip(times.iter().copied().map(milliseconds)).collect();
        Self { name: name.to_owned(), exponent: fitted_exponent(&points), points }
    }
}

/// The slope of the line that fits the logarithms of the times best.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn fitted_exponent(points: &[(usize, f64)]) -> f64 {
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(size, time)| ((*size as f64).ln(), time.ln())).collect();
    let count = logarithms.len() as f64;
    let mean_size = logarithms.iter().map(|(size, _)| size).sum::<f64>() / count;
    let mean_time = logarithms.iter().map(|(_, time)| time).sum::<f64>() / count;
    let covariance: f64 = logarithms.iter().map(|(size, time)| (size - mean_size) * (time - mean_time)).sum();
    let variance: f64 = logarithms.iter().map(|(size, _)| (size - mean_size).powi(2)).sum();
    covariance / variance
}

pub fn measure(binary: &Path) -> Result<Vec<Curve>> {
    Ok(vec![
        hooks("a call, by rules", &[10, 100, 1000, 10_000], binary, BenchProject::new)?,
        hooks("a call, by events in the journal", &[1, 1000, 30_000, 1_000_000], binary, |events| {
            let project = BenchProject::new(0)?;
            time(&mut project.hook(binary)?)?;
            project.fill_journal(events)?;
            Ok(project)
        })?,
        first_events(binary)?,
        hooks("a call, by bytes of the command", &[10, 1000, 30_000, 300_000], binary, |length| {
            let project = BenchProject::new(0)?;
            project.set_command(&command_of_length(length))?;
            Ok(project)
        })?,
        hooks("a search, by files that it names", &[10, 100, 1000], binary, |files| {
            let project = BenchProject::new(0)?;
            let names: Vec<String> = (0..files).map(|number| format!("src/part{number}/file{number}.rs")).collect();
            project.set_command(&format!("grep -n main {}", names.join(" ")))?;
            Ok(project)
        })?,
        patches(binary)?,
        checks(binary)?,
    ])
}

/// Measures hooks in one project for each size.
fn hooks(
    name: &str,
    sizes: &[usize],
    binary: &Path,
    create_project: impl Fn(usize) -> Result<BenchProject>,
) -> Result<Curve> {
    let projects = sizes.iter().map(|size| create_project(*size)).collect::<Result<Vec<_>>>()?;
    let hooks: Vec<_> = projects.iter().map(|project| || project.hook(binary)).collect();
    let hooks: Vec<_> = hooks.iter().map(|hook| hook as _).collect();
    Ok(Curve::new(name, sizes, &interleaved_medians(ROUNDS, &hooks)?))
}

/// Measures the first event of a session, by the number of stored sessions.
fn first_events(binary: &Path) -> Result<Curve> {
    let sizes = [1, 100, 1000, 5000];
    let mut projects = Vec::new();
    for sessions in sizes {
        let project = BenchProject::new(0)?;
        project.add_sessions(binary, sessions)?;
        projects.push(project);
    }
    let number = std::cell::Cell::new(0);
    let hooks: Vec<_> = projects
        .iter()
        .map(|project| {
            || {
                number.set(number.get() + 1);
                project.set_session(&format!("measured-{}", number.get()))?;
                project.hook(binary)
            }
        })
        .collect();
    let hooks: Vec<_> = hooks.iter().map(|hook| hook as _).collect();
    Ok(Curve::new("a session's first event, by stored sessions", &sizes, &interleaved_medians(ROUNDS, &hooks)?))
}

/// Measures a patch of Codex, by the number of files that it changes.
fn patches(binary: &Path) -> Result<Curve> {
    let sizes = [1, 10, 100, 1000, 5000];
    let mut projects = Vec::new();
    for files in sizes {
        let project = BenchProject::new(0)?;
        let change = |number| format!("*** Update File: src/part{number}/file{number}.rs\n@@\n-a\n+b");
        let changes: Vec<String> = (0..files).map(change).collect();
        let patch = format!("*** Begin Patch\n{}\n*** End Patch\n", changes.join("\n"));
        project.set_call("apply_patch", &json!({ "command": patch }))?;
        projects.push(project);
    }
    let hooks: Vec<_> = projects.iter().map(|project| || project.hook_of("codex", binary)).collect();
    let hooks: Vec<_> = hooks.iter().map(|hook| hook as _).collect();
    Ok(Curve::new("a patch, by files that it changes", &sizes, &interleaved_medians(ROUNDS, &hooks)?))
}

/// Measures `linchpin check` with one file rule, by the number of files in the repository.
fn checks(binary: &Path) -> Result<Curve> {
    let sizes = [1000, 10_000, 100_000];
    let directory = tempfile::tempdir()?;
    let trees = sizes
        .iter()
        .map(|files| BenchTree::build(&directory.path().join(format!("{files}/tree")), *files, 1))
        .collect::<Result<Vec<_>>>()?;
    let checks: Vec<_> = trees.iter().map(|tree| || Ok(tree.check(binary))).collect();
    let checks: Vec<_> = checks.iter().map(|check| check as _).collect();
    Ok(Curve::new("check, by files in the repository", &sizes, &interleaved_medians(TREE_ROUNDS, &checks)?))
}

/// Returns a script of about this length: a list of simple commands.
fn command_of_length(length: usize) -> String {
    let line = "cp src/a.txt build/b.txt";
    vec![line; (length / line.len()).max(1)].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_is_the_power_of_the_size() {
        let exponent = |time: fn(f64) -> f64| {
            let points = [(1, time(1.0)), (10, time(10.0)), (1000, time(1000.0))];
            format!("{:.3}", fitted_exponent(&points).abs())
        };
        assert_eq!([exponent(|_| 3.0), exponent(|n| 2.0 * n), exponent(|n| n * n)], ["0.000", "1.000", "2.000"]);
    }
}
