//! A scratch folder with a repository, a temporary folder, a home, and what is none of these.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use super::own_call;
use crate::{BoundedProcess, Confinement, Heed, NotStarted, ProcessOutcome, shim};

/// Longer than any test takes.
const LONG: Duration = Duration::from_mins(5);

pub struct Stage {
    folder: TempDir,
    pub environment: BTreeMap<String, OsString>,
    pub more_variables: Vec<String>,
    pub timeout: Duration,
}

impl Stage {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["repo", "tmp", "home", "outside"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut stage = Self { folder, environment: BTreeMap::new(), more_variables: Vec::new(), timeout: LONG };
        stage.set("PATH", "/usr/local/bin:/usr/bin:/bin");
        stage.set("HOME", stage.path("home"));
        stage.set("TMPDIR", stage.path("tmp"));
        stage
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
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

    /// Runs a script of the shell in the repository, free to write.
    pub fn script(&self, script: &str) -> ProcessOutcome {
        self.run(&["sh", "-c", script], Confinement::Off).unwrap()
    }

    /// The same, confined to the repository; none where this kernel cannot, which is said.
    pub fn confined_script(&self, script: &str) -> Option<ProcessOutcome> {
        self.confined(&["sh", "-c", script]).map(Result::unwrap)
    }

    pub fn confined(&self, words: &[&str]) -> Option<Result<ProcessOutcome, NotStarted>> {
        if !crate::is_supported() {
            eprintln!("skipped: this kernel has no Landlock");
            return None;
        }
        Some(self.run(words, Confinement::Require { root: self.path("repo") }))
    }

    pub fn run(&self, words: &[&str], confinement: Confinement) -> Result<ProcessOutcome, NotStarted> {
        self.run_if(words, confinement, crate::is_supported())
    }

    pub fn run_if(
        &self,
        words: &[&str],
        confinement: Confinement,
        is_supported: bool,
    ) -> Result<ProcessOutcome, NotStarted> {
        let run = BoundedProcess {
            words: words.iter().map(OsString::from).collect(),
            folder: self.path("repo"),
            variables: &self.more_variables,
            get: &|name| self.get(name),
            timeout: self.timeout,
            confinement,
            shim: own_call(shim::WORD),
        };
        let mut outcome = run.outcome_if(is_supported, &mut |_| Heed::GoOn)?;
        // What the test binary says before it becomes the shim.
        outcome.stdout = outcome.stdout.trim_start_matches("\nrunning 1 test\n").to_owned();
        Ok(outcome)
    }
}
