//! `cargo xtask coverage`: how many lines of the three parts that have a bar for it the suites run.
//!
//! `cargo llvm-cov` builds everything with `-C instrument-coverage` and runs the tests; the processes that tests start are counted
//! too. LLVM's own tools have to be of the version that the compiler is built with: others cannot read what it writes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// In percent of lines, of each part.
const BAR: f64 = 90.0;
const REPORT: &str = "target/coverage.json";

/// A part, and the files and folders that it consists of.
const PARTS: [(&str, &[&str]); 3] = [
    (
        "file rules",
        &[
            "crates/engine/src/file_rules/",
            "crates/policy/src/file_rule.rs",
            "crates/guard/src/file_rules/",
            "crates/guard/src/file_facts.rs",
            "crates/cli/src/commands/check",
        ],
    ),
    (
        "workflows and pace rules",
        &[
            "crates/engine/src/workflow/",
            "crates/engine/src/pace/",
            "crates/engine/src/decide/pacing.rs",
            "crates/policy/src/workflow/",
            "crates/policy/src/pace_rule.rs",
            "crates/guard/src/workflow/",
            "crates/guard/src/pace_facts.rs",
            "crates/cli/src/commands/work/",
        ],
    ),
    (
        "the loop",
        &[
            "crates/engine/src/hats/",
            "crates/policy/src/loops/",
            "crates/driver/src/",
            "crates/guard/src/loops/",
            "crates/cli/src/commands/loops/",
        ],
    ),
];

pub fn run() -> Result<()> {
    let (cov, profdata) = tools()?;
    let has_runner = Command::new("cargo").args(["llvm-cov", "--version"]).output()?.status.success();
    ensure!(has_runner, "`cargo llvm-cov` is missing: `cargo install --locked cargo-llvm-cov`");
    let arguments = ["llvm-cov", "--workspace", "--json", "--summary-only", "--output-path", REPORT];
    let ran = Command::new("cargo").args(arguments).env("LLVM_COV", cov).env("LLVM_PROFDATA", profdata).status()?;
    ensure!(ran.success(), "the suites have to pass before their coverage counts");
    let report: Value = serde_json::from_str(&fs::read_to_string(REPORT)?).context("the report is no JSON")?;
    let lines = lines(&report)?;
    let root = env::current_dir()?;
    let mut short = Vec::new();
    for (part, paths) in PARTS {
        let of_part = lines.iter().filter(|(file, ..)| belongs(file, &root, paths));
        let (count, covered) = of_part.fold((0, 0), |(count, covered), (_, more, also)| (count + more, covered + also));
        ensure!(count > 0, "no file of {part} was found in the report: has it moved?");
        let percent = percent(covered, count);
        println!("{percent:5.1} % of {count:5} lines  {part}");
        if percent < BAR {
            short.push(part);
        }
    }
    ensure!(short.is_empty(), "below {BAR} %: {}", short.join(", "));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "there are not that many lines")]
fn percent(covered: u64, count: u64) -> f64 {
    covered as f64 * 100.0 / count as f64
}

/// Every file of the report, its lines, and how many of them ran.
fn lines(report: &Value) -> Result<Vec<(PathBuf, u64, u64)>> {
    let files = report.pointer("/data/0/files").and_then(Value::as_array).context("the report names no files")?;
    let read = files.iter().map(|file| {
        let name = file.get("filename")?.as_str()?;
        let lines = file.pointer("/summary/lines")?;
        Some((PathBuf::from(name), lines.get("count")?.as_u64()?, lines.get("covered")?.as_u64()?))
    });
    read.collect::<Option<_>>().context("a file of the report has no lines")
}

/// Tests are no part of what they test.
fn belongs(file: &Path, root: &Path, paths: &[&str]) -> bool {
    let file = file.strip_prefix(root).unwrap_or(file).to_string_lossy();
    !file.ends_with("tests.rs") && paths.iter().any(|path| file.starts_with(path))
}

/// `llvm-cov` and `llvm-profdata` of the compiler's version: those that the environment names, those of the toolchain, or those of
/// the system.
fn tools() -> Result<(PathBuf, PathBuf)> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from);
    if let (Some(cov), Some(profdata)) = (named("LLVM_COV"), named("LLVM_PROFDATA")) {
        return Ok((cov, profdata));
    }
    let about = printed("rustc", &["-vV"])?;
    let field = |name: &str| about.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let (host, version) = (field("host:").context("rustc names no host")?, field("LLVM version:").unwrap_or_default());
    let major = version.split('.').next().unwrap_or_default();
    let sysroot = printed("rustc", &["--print", "sysroot"])?;
    let own = Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin");
    let candidates = [
        [own.join("llvm-cov"), own.join("llvm-profdata")],
        [format!("llvm-cov-{major}").into(), format!("llvm-profdata-{major}").into()],
        ["llvm-cov".into(), "llvm-profdata".into()],
    ];
    let is_right = |tool: &PathBuf| {
        let told = Command::new(tool).arg("--version").output();
        let told = told.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        told.contains(&format!("version {major}."))
    };
    for [cov, profdata] in candidates {
        if is_right(&cov) && is_right(&profdata) {
            return Ok((cov, profdata));
        }
    }
    bail!(
        "LLVM's coverage tools of version {major}, which this rustc writes for, are missing: `rustup component add llvm-tools`, or \
         `apt-get install llvm-{major}`, or name them in LLVM_COV and LLVM_PROFDATA"
    )
}

fn printed(program: &str, arguments: &[&str]) -> Result<String> {
    let output =
        Command::new(program).args(arguments).output().with_context(|| format!("`{program}` cannot be run"))?;
    ensure!(output.status.success(), "`{program} {}` failed", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}
