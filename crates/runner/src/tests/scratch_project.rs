//! A temporary directory with a repository, a directory for temporary files, a home directory, and an unrelated
//! directory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use super::child_command;
use crate::{BoundedProcess, NotStarted, ProcessOutcome, SandboxMode, WatchAction, shim};

/// Longer than any test takes.
const TEST_TIMEOUT: Duration = Duration::from_mins(5);

pub struct ScratchProject {
    directory: TempDir,
    pub environment: BTreeMap<String, OsString>,
    pub extra_variables: Vec<String>,
    pub timeout: Duration,
}

impl ScratchProject {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["repo", "tmp", "home", "outside"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let mut project =
            Self { directory, environment: BTreeMap::new(), extra_variables: Vec::new(), timeout: TEST_TIMEOUT };
        project.set("PATH", "/usr/local/bin:/usr/bin:/bin");
        project.set("HOME", project.path("home"));
        project.set("TMPDIR", project.path("tmp"));
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.insert(name.to_owned(), value.into());
    }

    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    pub fn get(&self, name: &str) -> Option<OsString> {
        self.environment.get(name).cloned()
    }

    /// Runs a shell script in the repository, unconfined.
    pub fn script(&self, script: &str) -> ProcessOutcome {
        self.run(&["sh", "-c", script], SandboxMode::Off).unwrap()
    }

    /// Runs a shell script confined to the repository. If the kernel does not support that, prints a message and
    /// returns `None`.
    pub fn confined_script(&self, script: &str) -> Option<ProcessOutcome> {
        self.confined(&["sh", "-c", script]).map(Result::unwrap)
    }

    pub fn confined(&self, argv: &[&str]) -> Option<Result<ProcessOutcome, NotStarted>> {
        if !crate::is_sandbox_supported() {
            eprintln!("skipped: this kernel has no Landlock");
            return None;
        }
        Some(self.run(argv, SandboxMode::Require { root: self.path("repo") }))
    }

    pub fn run(&self, argv: &[&str], sandbox: SandboxMode) -> Result<ProcessOutcome, NotStarted> {
        self.run_with_support(argv, sandbox, crate::is_sandbox_supported())
    }

    pub fn run_with_support(
        &self,
        argv: &[&str],
        sandbox: SandboxMode,
        is_supported: bool,
    ) -> Result<ProcessOutcome, NotStarted> {
        let process = BoundedProcess {
            argv: argv.iter().map(OsString::from).collect(),
            working_directory: self.path("repo"),
            extra_variables: &self.extra_variables,
            get_variable: &|name| self.get(name),
            timeout: self.timeout,
            sandbox,
            shim: child_command(shim::SHIM_ARGUMENT),
        };
        let mut outcome = process.run_with_support(is_supported, &mut |_| WatchAction::Continue)?;
        // The test binary prints this before it becomes the shim.
        outcome.stdout = outcome.stdout.trim_start_matches("\nrunning 1 test\n").to_owned();
        Ok(outcome)
    }
}
