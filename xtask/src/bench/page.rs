//! Writes `docs/speed.md`.

use std::fmt::Write;
use std::fs;

use anyhow::Result;

use super::report::{Report, megabytes};

const PAGE: &str = "docs/speed.md";
const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask bench --write`. -->

# Speed

A hook is a process that runs at every step of an agent, so its time is mostly the time to start a process, to read the
compiled policy and to write one event to the journal. The tables compare it with processes that do less, measured in
turns in the same run: such a ratio is meaningful on any machine, and milliseconds are not. `cargo xtask bench` measures
all of it on yours, and `cargo xtask bench --check` fails if a ratio became more than ten percent worse.
";

pub fn write(report: &Report) -> Result<()> {
    Ok(fs::write(PAGE, text(report)?)?)
}

fn text(report: &Report) -> Result<String> {
    let mut page = INTRODUCTION.to_owned();
    let machine = &report.machine;
    writeln!(
        page,
        "\nMeasured on: {}, {} cores, {}, {}. The binary has {}.",
        machine.processor,
        machine.cores,
        machine.kernel,
        machine.compiler,
        megabytes(report.binary_bytes)
    )?;
    page.push_str("\n## Ratios\n\nThe limit is what we want the ratio to stay below.\n\n");
    page.push_str("| measured / compared with | ms | ratio | limit |\n|---|---|---|---|\n");
    for row in &report.rows {
        let limit = match row.limit {
            Some(limit) if row.is_over_limit() => format!("{limit} (over)"),
            Some(limit) => limit.to_string(),
            None => String::new(),
        };
        writeln!(page, "| {} | {:.2} | {:.2} | {limit} |", row.name, row.milliseconds, row.ratio)?;
    }
    page.push_str("\n## One event, alone and with 64 at once\n\nMilliseconds for each process.\n\n");
    page.push_str("| | p50 | p95 | p99 |\n|---|---|---|---|\n");
    for latency in &report.latencies {
        writeln!(
            page,
            "| {} | {:.2} | {:.2} | {:.2} |",
            latency.name, latency.p50_milliseconds, latency.p95_milliseconds, latency.p99_milliseconds
        )?;
    }
    page.push_str(
        "\n## Growth\n\nThe exponent is that of the power of the size that fits the times best: 0 if the size does not \
         matter, 1 if the time is\nproportional to it.\n\n| what, by what | median times | exponent |\n|---|---|---|\n",
    );
    for curve in &report.curves {
        let points: Vec<String> =
            curve.points.iter().map(|(size, time)| format!("{}: {time:.2} ms", with_separators(*size))).collect();
        writeln!(page, "| {} | {} | {:.2} |", curve.name, points.join(", "), curve.exponent)?;
    }
    Ok(page)
}

/// Writes a number with a comma before each group of three digits.
fn with_separators(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators() {
        assert_eq!([7, 1000, 30_000, 1_000_000].map(with_separators), ["7", "1,000", "30,000", "1,000,000"]);
    }
}
