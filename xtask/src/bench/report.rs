//! All results of one run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::concurrency::{self, Latency};
use super::growth::{self, Curve};
use super::machine::Machine;
use super::row::Row;
use super::{file_rules, hooks, peers, workflows};
use crate::process::cargo;

/// The ratios of the last `--write`, by the names of the rows.
const RATIOS: &str = "xtask/bench/ratios.json";
/// A ratio may be this much above the one in [`RATIOS`].
const TOLERANCE: f64 = 1.1;

#[derive(Debug, Serialize)]
pub struct Report {
    pub machine: Machine,
    /// The size of the stripped binary with everything.
    pub binary_bytes: u64,
    pub rows: Vec<Row>,
    pub latencies: Vec<Latency>,
    pub curves: Vec<Curve>,
}

impl Report {
    /// Measures everything. If `is_printed`, prints each part when it is measured.
    pub fn measure(binary: &Path, is_printed: bool) -> Result<Self> {
        let print = |line: String| {
            if is_printed {
                println!("{line}");
            }
        };
        let machine = Machine::this();
        let binary_bytes = fs::metadata(binary)?.len();
        print(format!("{}, {} cores, {}, {}", machine.processor, machine.cores, machine.kernel, machine.compiler));
        print(format!("binary: {}", megabytes(binary_bytes)));
        let mut rows = Vec::new();
        let mut add = |measured: Vec<Row>| {
            for row in &measured {
                print(row.to_string());
            }
            rows.extend(measured);
        };
        add(hooks::measure(binary)?);
        add(workflows::measure(binary)?);
        add(file_rules::measure(binary)?);
        add(peers::measure()?);
        let latencies = concurrency::measure(binary)?;
        for Latency { name, p50_milliseconds, p95_milliseconds, p99_milliseconds } in &latencies {
            print(format!(
                "{name:<30} p50 {p50_milliseconds:>7.2}  p95 {p95_milliseconds:>7.2}  p99 {p99_milliseconds:>7.2} ms"
            ));
        }
        let curves = growth::measure(binary)?;
        for Curve { name, points, exponent } in &curves {
            let points: Vec<String> = points.iter().map(|(size, time)| format!("{size}: {time:.2} ms")).collect();
            print(format!("{name:<44} {}  (exponent {exponent:.2})", points.join(", ")));
        }
        if is_printed {
            cargo(&["bench", "--quiet", "--package", "linchpin-shell", "--bench", "parsing"]).run()?;
        }
        Ok(Self { machine, binary_bytes, rows, latencies, curves })
    }

    fn ratios(&self) -> BTreeMap<&str, f64> {
        self.rows.iter().filter(|row| row.limit.is_some()).map(|row| (row.name.as_str(), row.ratio)).collect()
    }

    pub fn write_ratios(&self) -> Result<()> {
        let rounded: BTreeMap<&str, f64> =
            self.ratios().into_iter().map(|(name, ratio)| (name, (ratio * 100.0).round() / 100.0)).collect();
        fs::create_dir_all(Path::new(RATIOS).parent().unwrap_or(Path::new(".")))?;
        Ok(fs::write(RATIOS, format!("{}\n", serde_json::to_string_pretty(&rounded)?))?)
    }

    /// Fails if a ratio is more than ten percent above the stored one.
    pub fn check(&self) -> Result<()> {
        let text = fs::read_to_string(RATIOS).with_context(|| format!("{RATIOS} cannot be read"))?;
        let stored: BTreeMap<String, f64> = serde_json::from_str(&text).with_context(|| format!("in {RATIOS}"))?;
        let worse = worse_rows(&self.ratios(), &stored);
        ensure!(worse.is_empty(), "slower than in {RATIOS}, or not in it:\n{}", worse.join("\n"));
        println!("no ratio is more than 10 % above {RATIOS}");
        Ok(())
    }
}

/// Formats a size in bytes as megabytes.
pub fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

/// Describes the rows whose ratio is too far above the stored one, the rows without a stored ratio, and the stored ratios
/// without a row.
fn worse_rows(ratios: &BTreeMap<&str, f64>, stored: &BTreeMap<String, f64>) -> Vec<String> {
    let worse = ratios.iter().filter_map(|(name, ratio)| match stored.get(*name) {
        Some(stored) if *ratio <= stored * TOLERANCE => None,
        Some(stored) => Some(format!("{name}: {ratio:.2}, was {stored}")),
        None => Some(format!("{name}: {ratio:.2}, no stored ratio")),
    });
    let unmeasured = stored.keys().filter(|name| !ratios.contains_key(name.as_str()));
    worse.chain(unmeasured.map(|name| format!("{name}: not measured"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_fails_ten_percent_above_the_stored_one() {
        let stored = BTreeMap::from([("one".to_owned(), 2.0), ("gone".to_owned(), 1.0)]);
        assert_eq!(worse_rows(&BTreeMap::from([("one", 2.2), ("gone", 0.5)]), &stored), Vec::<String>::new());
        assert_eq!(
            worse_rows(&BTreeMap::from([("one", 2.21), ("new", 1.0)]), &stored),
            ["new: 1.00, no stored ratio", "one: 2.21, was 2", "gone: not measured"]
        );
    }
}
