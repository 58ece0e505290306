//! A test binary: builds and runs it, and counts its tests.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use super::leftovers;
use crate::process::{Program, cargo};

pub struct Suite {
    /// The suite's name for people: `PACKAGE, tests/FILE` or `PACKAGE, unit tests`.
    pub name: String,
    package: String,
    /// The flags that make cargo run only this suite: `--lib`, `--bin NAME` or `--test NAME`.
    target: String,
    program: PathBuf,
    /// The crate's directory, which cargo makes the working directory of its tests.
    directory: PathBuf,
}

/// The result of running a suite.
pub struct SuiteOutcome {
    pub counts: Counts,
    pub status: ExitStatus,
    /// The command lines of processes that the suite left behind and that were killed.
    pub leftovers: Vec<String>,
}

#[derive(Default)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
}

impl Suite {
    /// Builds all tests. Cargo shows its progress on stderr.
    pub fn build_all() -> Result<Vec<Self>> {
        let format = "--message-format=json-render-diagnostics";
        let messages = cargo(&["test", "--workspace", "--no-run", format]).output_with_progress()?;
        let messages = messages.lines().map(serde_json::from_str);
        let mut suites: Vec<Self> = messages
            .filter_map(|message| message.map(|message| Self::from_cargo_message(&message)).transpose())
            .collect::<Result<_, _>>()?;
        suites.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(suites)
    }

    /// Returns the suite that a cargo message describes, if it describes one.
    fn from_cargo_message(message: &Value) -> Option<Self> {
        let text = |pointer| message.pointer(pointer).and_then(Value::as_str);
        let program = PathBuf::from(text("/executable")?);
        if message.pointer("/profile/test") != Some(&Value::Bool(true)) {
            return None;
        }
        let directory = Path::new(text("/manifest_path")?).parent()?.to_owned();
        // An id has the form `…/crates/cli#linchpin@0.1.0`, or `…/xtask#0.1.0` if the directory and the package have
        // the same name.
        let (path, id) = text("/package_id")?.rsplit_once('#')?;
        let package = match id.split_once('@') {
            Some((name, _)) => name.to_owned(),
            None => path.rsplit('/').next()?.to_owned(),
        };
        let target = text("/target/name")?;
        let (name, target) = match text("/target/kind/0")? {
            "test" => (format!("{package}, tests/{target}"), format!("--test {target}")),
            "bin" => (format!("{package}, unit tests"), format!("--bin {target}")),
            _ => (format!("{package}, unit tests"), "--lib".to_owned()),
        };
        Some(Self { name, package, target, program, directory })
    }

    /// Runs the suite and copies its output to the screen.
    pub fn run(&self, filters: &[String], path: &OsStr, screen: &mut (dyn Write + Send)) -> Result<SuiteOutcome> {
        let program = self.program.to_str().context("the target directory's path is not UTF-8")?;
        let mut child = Program::new(program, &["--quiet"])
            .args(filters)
            .env("PATH", path)
            .env("CARGO_MANIFEST_DIR", self.directory.as_os_str())
            .current_dir(&self.directory)
            .spawn_with_piped_stdout()?;
        let output = child.stdout.take().context("a pipe")?;
        // Processes that the suite left behind can hold the pipe open, so they are killed before this thread waits for
        // the reader of the pipe.
        thread::scope(|scope| {
            let counts = scope.spawn(|| copy_output(output, screen));
            let status = child.wait()?;
            let leftovers = leftovers::kill_all()?;
            let counts = counts.join().map_err(|_| anyhow!("the reader of test output panicked"))??;
            Ok(SuiteOutcome { counts, status, leftovers })
        })
    }

    #[cfg(all(test, target_os = "linux"))]
    pub fn of_program(program: &Path) -> Self {
        Self {
            name: "sample".to_owned(),
            package: "sample".to_owned(),
            target: "--lib".to_owned(),
            program: program.to_owned(),
            directory: program.parent().unwrap_or(program).to_owned(),
        }
    }

    /// Returns the command that runs only this suite.
    pub fn command(&self) -> String {
        format!("cargo test -p {} {}", self.package, self.target)
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.passed += more.passed;
        self.failed += more.failed;
    }
}

impl Counts {
    /// Reads a line such as `test result: ok. 61 passed; 0 failed; 0 ignored; …`.
    fn parse(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let count = |name| counts.split("; ").find_map(|count| count.strip_suffix(name)?.trim().parse().ok());
        Some(Self { passed: count("passed")?, failed: count("failed")? })
    }
}

/// Copies a suite's output to the screen as soon as it arrives, and reads the counts of tests from its lines.
fn copy_output(output: impl Read, screen: &mut dyn Write) -> Result<Counts> {
    let mut counts = Counts::default();
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        let part = output.fill_buf()?;
        if part.is_empty() {
            return Ok(counts);
        }
        screen.write_all(part)?;
        screen.flush()?;
        line.extend_from_slice(part);
        let length = part.len();
        output.consume(length);
        while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            let complete: Vec<u8> = line.drain(..=end).collect();
            if let Some(more) = Counts::parse(String::from_utf8_lossy(&complete).trim_end()) {
                counts += more;
            }
        }
    }
}
