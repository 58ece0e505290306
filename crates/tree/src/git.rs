//! Running `git`: with nothing of the environment that would turn it elsewhere, and nothing of the repository's own
//! configuration that would make it run other programs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Why git did not say what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be run: {0}")]
    NotRun(String),
    #[error("git did not answer within {} s", .0.as_secs())]
    TooLate(Duration),
    #[error("git says: {0}")]
    Failed(String),
}

/// How git is called in one folder.
#[derive(Debug, Clone)]
pub struct Git {
    folder: PathBuf,
    /// Filters of the repository's own configuration, which would run programs.
    filters: Vec<String>,
    limit: Duration,
}

struct Answer {
    is_success: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// They would have git look at another repository, or run something.
const MISLEADING: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_TRACE",
];

impl Git {
    pub fn new(folder: &Path, limit: Duration) -> Self {
        Self { folder: folder.to_owned(), filters: Vec::new(), limit }
    }

    /// The same, with these filters switched off.
    #[must_use]
    pub fn without_filters(self, filters: Vec<String>) -> Self {
        Self { filters, ..self }
    }

    pub fn filters(&self) -> &[String] {
        &self.filters
    }

    /// What git prints.
    pub fn output(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let Answer { is_success, stdout, stderr } = self.run(arguments)?;
        if is_success {
            return Ok(stdout);
        }
        let said = String::from_utf8_lossy(&stderr);
        let said = said.lines().next().unwrap_or("nothing, and failed").trim();
        Err(GitError::Failed(said.strip_prefix("fatal: ").unwrap_or(said).to_owned()))
    }

    /// One line that git prints; none where it says no.
    pub fn line(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let Answer { is_success, stdout, .. } = self.run(arguments)?;
        let line = String::from_utf8_lossy(&stdout).trim().to_owned();
        Ok((is_success && !line.is_empty()).then_some(line))
    }

    fn run(&self, arguments: &[&str]) -> Result<Answer, GitError> {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| GitError::NotRun(error.to_string()))?;
        let readers = [child.stdout.take().map(read_all), child.stderr.take().map(read_all)];
        let end = Instant::now() + self.limit;
        let mut pause = Duration::from_micros(200);
        while readers.iter().flatten().any(|reader| !reader.is_finished()) {
            if Instant::now() > end {
                let _ = child.kill();
                let _ = child.wait();
                return Err(GitError::TooLate(self.limit));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        let status = child.wait().map_err(|error| GitError::NotRun(error.to_string()))?;
        let [stdout, stderr] = readers.map(|reader| reader.and_then(|reader| reader.join().ok()).unwrap_or_default());
        Ok(Answer { is_success: status.success(), stdout, stderr })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"]);
        command.args(["-c", "diff.autoRefreshIndex=true", "-c", "diff.ignoreSubmodules=dirty"]);
        for filter in &self.filters {
            for setting in ["clean=", "smudge=", "process=", "required=false"] {
                command.arg("-c").arg(format!("filter.{filter}.{setting}"));
            }
        }
        command.current_dir(&self.folder).env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1");
        for variable in MISLEADING {
            command.env_remove(variable);
        }
        command
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was said before an error is judged as it is.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}
