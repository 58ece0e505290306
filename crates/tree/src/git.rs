//! Running `git`: with nothing of the environment that would turn it elsewhere, and nothing of the repository's own
//! configuration that would make it run other programs.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
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
    /// Said outright: git's own search may end in another repository, which somebody put in the way.
    repository: PathBuf,
    work_tree: PathBuf,
    /// Filters of the repository's own configuration, which would run programs.
    filters: Vec<OsString>,
    /// Another index than the usual one.
    index: Option<OsString>,
    limit: Duration,
    /// Why it is not to be run at all.
    fault: Option<GitError>,
}

struct Answer {
    is_success: bool,
    /// It looked, and there is no such thing.
    says_no: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// What holds for every call, whatever anybody's configuration says.
const FIXED: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.checkStat", "default"),
    ("core.hooksPath", "/dev/null"),
    ("core.ignoreStat", "false"),
    ("core.quotePath", "false"),
    ("core.trustctime", "true"),
    ("diff.autoRefreshIndex", "true"),
    ("diff.ignoreSubmodules", "dirty"),
    ("log.showSignature", "false"),
    ("safe.bareRepository", "explicit"),
    // A file that is there counts, whatever is left out of a checkout.
    ("sparse.expectFilesOutsideOfPatterns", "false"),
];
/// What switches a filter off.
const FILTER: &[(&str, &str)] = &[(".clean", ""), (".smudge", ""), (".process", ""), (".required", "false")];

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
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_ATTR_SOURCE",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_TRACE",
];

impl Answer {
    fn printed(self) -> Result<Vec<u8>, GitError> {
        if self.is_success {
            return Ok(self.stdout);
        }
        let said = String::from_utf8_lossy(&self.stderr);
        let said = said.lines().next().unwrap_or("nothing, and failed").trim();
        Err(GitError::Failed(said.strip_prefix("fatal: ").unwrap_or(said).to_owned()))
    }
}

impl Git {
    pub fn new(folder: &Path, git_dir: &Path, work_tree: &Path, limit: Duration) -> Self {
        Self {
            folder: folder.to_owned(),
            repository: git_dir.to_owned(),
            work_tree: work_tree.to_owned(),
            filters: Vec::new(),
            index: None,
            limit,
            fault: None,
        }
    }

    /// The same, with these filters switched off.
    #[must_use]
    pub fn without_filters(self, filters: Vec<OsString>) -> Self {
        Self { filters, ..self }
    }

    /// The same, which only says what is wrong.
    #[must_use]
    pub fn failing(self, fault: GitError) -> Self {
        Self { fault: Some(fault), ..self }
    }

    /// The same, with another index.
    #[must_use]
    pub fn with_index(self, index: Option<&OsStr>) -> Self {
        Self { index: index.map(OsStr::to_owned), ..self }
    }

    pub fn filters(&self) -> &[OsString] {
        &self.filters
    }

    /// What git prints.
    pub fn output(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run(arguments)?.printed()
    }

    /// What git prints of something that need not be there.
    pub fn found(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let answer = self.run(arguments)?;
        if answer.says_no { Ok(Vec::new()) } else { answer.printed() }
    }

    /// One line that git prints; none where it says no.
    pub fn line(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let Answer { is_success, stdout, .. } = self.run(arguments)?;
        let line = String::from_utf8_lossy(&stdout).trim().to_owned();
        Ok((is_success && !line.is_empty()).then_some(line))
    }

    /// What git prints of what it is given on stdin.
    pub fn output_of(&self, arguments: &[&str], input: String) -> Result<Vec<u8>, GitError> {
        self.run_with(arguments, Some(input))?.printed()
    }

    fn run(&self, arguments: &[&str]) -> Result<Answer, GitError> {
        self.run_with(arguments, None)
    }

    fn run_with(&self, arguments: &[&str], input: Option<String>) -> Result<Answer, GitError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let mut command = self.command();
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.args(arguments).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| GitError::NotRun(error.to_string()))?;
        if let Some((mut pipe, input)) = child.stdin.take().zip(input) {
            // On a thread of its own: git answers while it is still being asked. Where it ended, that shows below.
            thread::spawn(move || pipe.write_all(input.as_bytes()));
        }
        let pipes = [child.stdout.take().map(read_all), child.stderr.take().map(read_all)];
        let end = Instant::now() + self.limit;
        let mut said = [Vec::new(), Vec::new()];
        for (pipe, said) in pipes.iter().zip(&mut said) {
            let Some(pipe) = pipe else { continue };
            match pipe.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => *said = bytes,
                Err(RecvTimeoutError::Disconnected) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(GitError::TooLate(self.limit));
                }
            }
        }
        let status = child.wait().map_err(|error| GitError::NotRun(error.to_string()))?;
        let [stdout, stderr] = said;
        Ok(Answer { is_success: status.success(), says_no: status.code() == Some(1), stdout, stderr })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        let mut git_dir = OsString::from("--git-dir=");
        git_dir.push(&self.repository);
        let mut work_tree = OsString::from("--work-tree=");
        work_tree.push(&self.work_tree);
        command.arg(git_dir).arg(work_tree);
        command.current_dir(&self.folder).env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1").env("GIT_NO_REPLACE_OBJECTS", "1");
        for variable in MISLEADING {
            command.env_remove(variable);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        self.configure(&mut command);
        command
    }

    /// By the environment: on the command line, a name with a `=` in it would be cut there.
    fn configure(&self, command: &mut Command) {
        let fixed = FIXED.iter().map(|(key, value)| (OsString::from(key), *value));
        let switched_off = self.filters.iter().flat_map(|filter| {
            FILTER.iter().map(move |(setting, value)| {
                let mut key = OsString::from("filter.");
                key.push(filter);
                key.push(setting);
                (key, *value)
            })
        });
        let mut count = 0;
        for (key, value) in fixed.chain(switched_off) {
            command.env(format!("GIT_CONFIG_KEY_{count}"), key).env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
    }
}

/// All that comes, once it has ended.
fn read_all(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (said, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was said before an error is judged as it is.
        let _ = pipe.read_to_end(&mut bytes);
        // Nobody listens any more where it took too long.
        let _ = said.send(bytes);
    });
    heard
}
