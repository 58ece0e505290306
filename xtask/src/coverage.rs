//! `cargo xtask coverage`: the line coverage of the three parts of the code that have a required minimum.
//!
//! `cargo llvm-cov` builds everything with `-C instrument-coverage` and runs the tests. The report includes the code
//! that ran in processes that tests started.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// The minimum coverage of each part, in percent of its lines.
const MIN_PERCENT: f64 = 90.0;
/// The first LLVM version whose tools are known to read the coverage of current compilers.
const OLDEST_LLVM: u32 = 19;
const REPORT: &str = "target/coverage.json";

/// Each part's name, and its files and directories.
const PARTS: [(&str, &[&str]); 3] = [
    (
        "file rules",
        &[
            "crates/engine/src/file_rules/",
            "crates/policy/src/rule/file_rule.rs",
            "crates/guard/src/file_rules/",
            "crates/guard/src/check/",
            "crates/cli/src/commands/check",
        ],
    ),
    (
        "workflows and pace rules",
        &[
            "crates/engine/src/workflow/",
            "crates/engine/src/pace/",
            "crates/engine/src/decide/pace_judgement.rs",
            "crates/policy/src/workflow/",
            "crates/policy/src/rule/pace_rule.rs",
            "crates/guard/src/workflow/",
            "crates/guard/src/facts/pace_facts.rs",
            "crates/cli/src/commands/moves/",
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
    let (cov, profdata) = find_llvm_tools()?;
    let is_installed = Command::new("cargo").args(["llvm-cov", "--version"]).output()?.status.success();
    ensure!(is_installed, "`cargo llvm-cov` is missing: `cargo install --locked cargo-llvm-cov`");
    // Some tests fail here, because an instrumented process reads variables of its own and writes a file when it ends:
    // for example the tests in which no file can be written. `cargo xtask test` is the command that checks them.
    let arguments =
        ["llvm-cov", "--workspace", "--ignore-run-fail", "--json", "--summary-only", "--output-path", REPORT];
    let mut coverage = Command::new("cargo");
    coverage.args(arguments).env("LLVM_COV", cov).env("LLVM_PROFDATA", profdata);
    // Tests kill processes, which may then leave incomplete files. These are ignored.
    let status = coverage.env("LLVM_PROFDATA_FLAGS", "--failure-mode=all").status()?;
    ensure!(status.success(), "`cargo llvm-cov` failed: {status}");
    let report: Value = serde_json::from_str(&fs::read_to_string(REPORT)?).context("the report is not JSON")?;
    let line_counts = line_counts(&report)?;
    let root = env::current_dir()?;
    let mut below_minimum = Vec::new();
    for (part, paths) in PARTS {
        for path in paths {
            let has_file = line_counts.iter().any(|(file, ..)| belongs_to_part(file, &root, &[path]));
            ensure!(has_file, "the report has no file in `{path}`: was it moved?");
        }
        let of_part = line_counts.iter().filter(|(file, ..)| belongs_to_part(file, &root, paths));
        let (count, covered) = of_part
            .fold((0, 0), |(count, covered), (_, lines, covered_lines)| (count + lines, covered + covered_lines));
        let percent = percent(covered, count);
        println!("{percent:5.1} % of {count:5} lines  {part}");
        if percent < MIN_PERCENT {
            below_minimum.push(part);
        }
    }
    ensure!(below_minimum.is_empty(), "below {MIN_PERCENT} %: {}", below_minimum.join(", "));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "there are not that many lines")]
fn percent(covered: u64, count: u64) -> f64 {
    covered as f64 * 100.0 / count as f64
}

/// Returns every file of the report, with the number of its lines and the number of lines that the tests ran.
fn line_counts(report: &Value) -> Result<Vec<(PathBuf, u64, u64)>> {
    let files = report.pointer("/data/0/files").and_then(Value::as_array).context("the report names no files")?;
    let read = files.iter().map(|file| {
        let name = file.get("filename")?.as_str()?;
        let line_counts = file.pointer("/summary/lines")?;
        Some((PathBuf::from(name), line_counts.get("count")?.as_u64()?, line_counts.get("covered")?.as_u64()?))
    });
    read.collect::<Option<_>>().context("a file of the report has no lines")
}

/// True if one of a part's paths is the file or contains it, and the file is not a test file.
fn belongs_to_part(file: &Path, root: &Path, paths: &[&str]) -> bool {
    let file = file.strip_prefix(root).unwrap_or(file).to_string_lossy();
    !file.ends_with("tests.rs") && paths.iter().any(|path| file.starts_with(path))
}

/// Returns the `llvm-cov` and `llvm-profdata` to use: those in the environment variables, or else the first of the
/// toolchain's and the system's that can read the coverage.
fn find_llvm_tools() -> Result<(PathBuf, PathBuf)> {
    let from_environment = |name: &str| env::var_os(name).map(PathBuf::from);
    if let (Some(cov), Some(profdata)) = (from_environment("LLVM_COV"), from_environment("LLVM_PROFDATA")) {
        return Ok((cov, profdata));
    }
    let version_text = stdout_of("rustc", &["-vV"])?;
    let field = |name: &str| version_text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let host = field("host:").context("rustc names no host")?;
    let version = field("LLVM version:").unwrap_or_default();
    let major: u32 = version.split('.').next().unwrap_or_default().parse().context("rustc names no version of LLVM")?;
    let sysroot = stdout_of("rustc", &["--print", "sysroot"])?;
    let toolchain_bin = Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin");
    let of_version = |version: u32| (format!("llvm-cov-{version}").into(), format!("llvm-profdata-{version}").into());
    let candidates = [(toolchain_bin.join("llvm-cov"), toolchain_bin.join("llvm-profdata"))]
        .into_iter()
        .chain((OLDEST_LLVM..=major).rev().map(of_version))
        .chain([("llvm-cov".into(), "llvm-profdata".into())]);
    let sample = SampleCoverage::create()?;
    for (cov, profdata) in candidates {
        if sample.can_be_read_by(&cov, &profdata) {
            return Ok((cov, profdata));
        }
    }
    bail!(
        "no LLVM tools can read the coverage that this rustc writes (LLVM {major}): run `rustup component add llvm-tools` or \
         `apt-get install llvm-{OLDEST_LLVM}`, or name tools in LLVM_COV and LLVM_PROFDATA"
    )
}

/// The coverage of a very small program, to test whether LLVM tools can read it. Whether tools older than the
/// compiler's LLVM can read it is not known in advance, because coverage formats have their own versions.
struct SampleCoverage(TempDir);

impl SampleCoverage {
    fn create() -> Result<Self> {
        let sample = Self(tempfile::tempdir()?);
        fs::write(sample.file("main.rs"), "fn main() {}\n")?;
        let compiled = Command::new("rustc")
            .args(["-C", "instrument-coverage", "main.rs", "-o", "main"])
            .current_dir(sample.0.path())
            .status()?;
        ensure!(compiled.success(), "rustc cannot compile a program with coverage");
        let status = Command::new(sample.file("main")).env("LLVM_PROFILE_FILE", sample.file("profraw")).status()?;
        ensure!(status.success(), "a program with coverage cannot be run");
        Ok(sample)
    }

    fn can_be_read_by(&self, cov: &Path, profdata: &Path) -> bool {
        let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        let merged = self.file("profdata");
        succeeds(Command::new(profdata).arg("merge").arg(self.file("profraw")).arg("-o").arg(&merged))
            && succeeds(Command::new(cov).arg("report").arg(self.file("main")).arg("-instr-profile").arg(&merged))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn stdout_of(program: &str, arguments: &[&str]) -> Result<String> {
    let output =
        Command::new(program).args(arguments).output().with_context(|| format!("`{program}` cannot be run"))?;
    ensure!(output.status.success(), "`{program} {}` failed", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}
