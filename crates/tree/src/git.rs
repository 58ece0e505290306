//! Runs `git`, ignoring environment variables that would redirect it, and configuration of the repository that would
//! make it run other programs.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The reason why a call of git failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be run: {0}")]
    NotRun(String),
    #[error("git did not answer within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("git failed: {0}")]
    Failed(String),
}

/// The settings for calls of git in one directory.
#[derive(Debug, Clone)]
#[expect(clippy::struct_field_names, reason = "`git_dir` is git's own name")]
pub struct Git {
    working_directory: PathBuf,
    /// The repository's `.git` directory. It is passed to git explicitly, because git's own search could find another
    /// repository in a directory between `working_directory` and `work_tree`.
    git_dir: PathBuf,
    work_tree: PathBuf,
    /// The filters in the repository's own configuration. They are disabled, because they would run programs.
    disabled_filters: Vec<OsString>,
    /// The path of the index to use instead of the default one, if any.
    index: Option<OsString>,
    timeout: Duration,
    /// If set, git is not run, and every call returns this error.
    fixed_error: Option<GitError>,
}

struct GitOutput {
    is_success: bool,
    /// True for exit code 1: the query succeeded, and found nothing.
    found_nothing: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Settings that override the configuration in every call.
const FIXED_CONFIG: &[(&str, &str)] = &[
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
    // If this were `true`, git would not report changes of files outside of a sparse checkout.
    ("sparse.expectFilesOutsideOfPatterns", "false"),
];
/// The settings that disable a filter.
const DISABLED_FILTER: &[(&str, &str)] = &[(".clean", ""), (".smudge", ""), (".process", ""), (".required", "false")];

/// Environment variables that would redirect git to another repository or index, change what it does, or make it run
/// other programs.
const REMOVED_VARIABLES: &[&str] = &[
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

impl GitOutput {
    /// Fails with the first line of stderr if git failed.
    fn into_stdout(self) -> Result<Vec<u8>, GitError> {
        if self.is_success {
            return Ok(self.stdout);
        }
        let stderr = String::from_utf8_lossy(&self.stderr);
        let first_line = stderr.lines().next().unwrap_or("it printed no error message").trim();
        Err(GitError::Failed(first_line.strip_prefix("fatal: ").unwrap_or(first_line).to_owned()))
    }
}

impl Git {
    pub fn new(working_directory: &Path, git_dir: &Path, work_tree: &Path, timeout: Duration) -> Self {
        Self {
            working_directory: working_directory.to_owned(),
            git_dir: git_dir.to_owned(),
            work_tree: work_tree.to_owned(),
            disabled_filters: Vec::new(),
            index: None,
            timeout,
            fixed_error: None,
        }
    }

    /// Disables these filters, so that git does not run their programs.
    #[must_use]
    pub fn without_filters(self, filters: Vec<OsString>) -> Self {
        Self { disabled_filters: filters, ..self }
    }

    /// Makes every call return this error.
    #[must_use]
    pub fn always_failing(self, error: GitError) -> Self {
        Self { fixed_error: Some(error), ..self }
    }

    /// Uses `index`, if it is given, instead of the default index.
    #[must_use]
    pub fn with_index(self, index: Option<&OsStr>) -> Self {
        Self { index: index.map(OsStr::to_owned), ..self }
    }

    pub fn disabled_filters(&self) -> &[OsString] {
        &self.disabled_filters
    }

    /// Returns the stdout of git.
    pub fn output(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run(arguments)?.into_stdout()
    }

    /// Returns the stdout of a query; empty if it found nothing.
    pub fn query_output(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let output = self.run(arguments)?;
        if output.found_nothing { Ok(Vec::new()) } else { output.into_stdout() }
    }

    /// Returns the stdout without surrounding white space; `None` if git failed or printed nothing.
    pub fn line(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let GitOutput { is_success, stdout, .. } = self.run(arguments)?;
        let line = String::from_utf8_lossy(&stdout).trim().to_owned();
        Ok((is_success && !line.is_empty()).then_some(line))
    }

    /// Returns the stdout of git, with `input` as its stdin.
    pub fn output_with_stdin(&self, arguments: &[&str], input: String) -> Result<Vec<u8>, GitError> {
        self.run_with_stdin(arguments, Some(input))?.into_stdout()
    }

    fn run(&self, arguments: &[&str]) -> Result<GitOutput, GitError> {
        self.run_with_stdin(arguments, None)
    }

    fn run_with_stdin(&self, arguments: &[&str], input: Option<String>) -> Result<GitOutput, GitError> {
        if let Some(error) = &self.fixed_error {
            return Err(error.clone());
        }
        let mut command = self.command();
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.args(arguments).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| GitError::NotRun(error.to_string()))?;
        if let Some((mut pipe, input)) = child.stdin.take().zip(input) {
            // A separate thread writes stdin, because git writes output before it has read everything. If git ends
            // early, writing fails, and git's exit code is checked below.
            thread::spawn(move || pipe.write_all(input.as_bytes()));
        }
        let pipes = [child.stdout.take().map(read_all), child.stderr.take().map(read_all)];
        let deadline = Instant::now() + self.timeout;
        let mut outputs = [Vec::new(), Vec::new()];
        for (pipe, output) in pipes.iter().zip(&mut outputs) {
            let Some(pipe) = pipe else { continue };
            match pipe.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => *output = bytes,
                Err(RecvTimeoutError::Disconnected) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(GitError::Timeout(self.timeout));
                }
            }
        }
        let status = child.wait().map_err(|error| GitError::NotRun(error.to_string()))?;
        let [stdout, stderr] = outputs;
        Ok(GitOutput { is_success: status.success(), found_nothing: status.code() == Some(1), stdout, stderr })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        let mut git_dir_flag = OsString::from("--git-dir=");
        git_dir_flag.push(&self.git_dir);
        let mut work_tree_flag = OsString::from("--work-tree=");
        work_tree_flag.push(&self.work_tree);
        command.arg(git_dir_flag).arg(work_tree_flag);
        command.current_dir(&self.working_directory).env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1").env("GIT_NO_REPLACE_OBJECTS", "1");
        for variable in REMOVED_VARIABLES {
            command.env_remove(variable);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        self.configure(&mut command);
        command
    }

    /// Passes configuration settings to git in environment variables. On the command line, git would split a name such
    /// as `filter.a=b.clean` at the `=`.
    fn configure(&self, command: &mut Command) {
        let fixed = FIXED_CONFIG.iter().map(|(key, value)| (OsString::from(key), *value));
        let disabled = self.disabled_filters.iter().flat_map(|filter| {
            DISABLED_FILTER.iter().map(move |(setting, value)| {
                let mut key = OsString::from("filter.");
                key.push(filter);
                key.push(setting);
                (key, *value)
            })
        });
        let mut count = 0;
        for (key, value) in fixed.chain(disabled) {
            command.env(format!("GIT_CONFIG_KEY_{count}"), key).env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
    }
}

/// Reads a stream to its end in a thread of its own.
fn read_all(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // If reading fails, the bytes before the error are used.
        let _ = pipe.read_to_end(&mut bytes);
        // After a timeout, the receiver no longer exists.
        let _ = sender.send(bytes);
    });
    receiver
}
