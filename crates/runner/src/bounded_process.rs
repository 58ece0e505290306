//! Runs a process until it ends, and ends all processes that it leaves behind.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{self, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::environment::{GetVariable, environment};
use crate::not_started::{NotStarted, not_started, start_error};
use crate::process_group::{ProcessGroup, deadline_after, terminating_signal, wait_until};
use crate::program::resolve_program;
use crate::sandbox::{SandboxLimit, SandboxMode, writable_paths};
use crate::shim;
use crate::tail::Tail;
use crate::watch_action::WatchAction;

/// How long output may still arrive after the process has ended. A process that keeps a pipe open for longer was left
/// behind.
const OUTPUT_GRACE_PERIOD: Duration = Duration::from_secs(1);

/// A process to start: without a shell, with empty stdin, in its own process group.
pub struct BoundedProcess<'a> {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The working directory. The path of a program may be relative to it.
    pub working_directory: PathBuf,
    /// Variables that the process inherits besides [`INHERITED_VARIABLES`](crate::INHERITED_VARIABLES).
    pub extra_variables: &'a [String],
    /// Looks up an environment variable.
    pub get_variable: GetVariable<'a>,
    /// After this time, the process and its group are ended.
    pub timeout: Duration,
    pub sandbox: SandboxMode,
    /// The command that calls this binary as the shim, normally [`shim::shim_command`]. The binary's `main` must then
    /// call [`shim::run`]. If `main` does something else, its output and exit code are taken for those of the program.
    pub shim: Vec<OsString>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutcome {
    /// `None` if a signal ended the process.
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    /// The end of stdout; at most [`OUTPUT_LIMIT`](crate::OUTPUT_LIMIT) bytes.
    pub stdout: String,
    pub stderr: String,
    pub notes: Vec<ProcessNote>,
}

impl ProcessOutcome {
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }
}

/// Unusual circumstances of a process that people should know about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessNote {
    /// A sandbox was requested, but this kernel does not support it.
    Unconfined,
    /// The process was ended by a signal that this crate did not send.
    Signal(i32),
    /// Processes that the program had started were still running after it ended, and were then ended.
    LeftBehind,
    /// A process that the program started could not be ended, for example because it has left the process group.
    NotEnded,
}

impl fmt::Display for ProcessNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unconfined => formatter.write_str("this system has no Landlock, so its writes were not limited"),
            Self::Signal(signal) => write!(formatter, "it was killed by signal {signal}"),
            Self::LeftBehind => formatter.write_str("processes that it started were still running and were ended"),
            Self::NotEnded => formatter.write_str("processes that it started could not be ended"),
        }
    }
}

/// The output of a process that is still running.
pub struct OutputSoFar<'a> {
    stdout: &'a Tail,
    stderr: &'a Tail,
}

impl OutputSoFar<'_> {
    /// The number of bytes written so far. It grows whenever there is new output.
    pub fn length(&self) -> u64 {
        self.stdout.length() + self.stderr.length()
    }

    /// The end of the stream that was written to last.
    pub fn latest(&self) -> String {
        let latest = if self.stderr.last_written() > self.stdout.last_written() { self.stderr } else { self.stdout };
        latest.text()
    }
}

impl BoundedProcess<'_> {
    /// Runs the process until it ends, at the latest shortly after the timeout.
    pub fn run(&self) -> Result<ProcessOutcome, NotStarted> {
        self.run_watched(&mut |_| WatchAction::Continue)
    }

    /// Like `run`, but calls `watch` every few milliseconds. `watch` can read the output so far and end the
    /// process.
    pub fn run_watched(
        &self,
        watch: &mut dyn FnMut(&OutputSoFar<'_>) -> WatchAction,
    ) -> Result<ProcessOutcome, NotStarted> {
        self.run_with_support(crate::is_sandbox_supported(), watch)
    }

    /// Like `run_watched`; `is_supported` says whether the kernel supports sandboxes.
    pub(crate) fn run_with_support(
        &self,
        is_supported: bool,
        watch: &mut dyn FnMut(&OutputSoFar<'_>) -> WatchAction,
    ) -> Result<ProcessOutcome, NotStarted> {
        let name = self.argv.first().ok_or_else(|| not_started("the command is empty"))?.to_string_lossy();
        let limit = self.sandbox.limit(is_supported);
        let mut command =
            self.build_command(&limit).map_err(|why| not_started(format!("`{name}` was not started: {why}")))?;
        let failed = |error: io::Error| not_started(format!("`{name}` cannot be started: {error}"));
        let failed_to_start = |error: io::Error| {
            not_started(format!("`{name}` cannot be started: {}", start_error(OsStr::new(&*name), &error)))
        };
        // The readers are started first, so that a started process always has a reader.
        let (stdout, stdout_writer) = io::pipe().map_err(failed)?;
        let (stderr, stderr_writer) = io::pipe().map_err(failed)?;
        let (stdout, stderr) = (Tail::spawn(stdout).map_err(failed)?, Tail::spawn(stderr).map_err(failed)?);
        command.stdin(Stdio::null()).stdout(stdout_writer).stderr(stderr_writer);

        let deadline = deadline_after(self.timeout);
        let mut group = ProcessGroup::start(command).map_err(failed_to_start)?;
        let output_is_complete = || stdout.is_complete() && stderr.is_complete();
        let so_far = OutputSoFar { stdout: &stdout, stderr: &stderr };
        let mut is_stopped = false;
        let timed_out = !wait_until(deadline, || {
            is_stopped = watch(&so_far) == WatchAction::Stop;
            is_stopped || group.leader_has_ended()
        });
        let left_behind =
            !timed_out && !is_stopped && !wait_until(deadline_after(OUTPUT_GRACE_PERIOD), output_is_complete);
        if timed_out || is_stopped || left_behind {
            group.end(output_is_complete);
        } else {
            // A process that has closed its output could otherwise go on unnoticed.
            group.kill_remaining();
        }
        let not_ended = !group.leader_has_ended() || !output_is_complete();

        let status = group.into_exit_status();
        let exit_code = status.and_then(|status| status.code());
        let stderr = stderr.text();
        if let Some(why) = shim::failure_reason(exit_code, &stderr).filter(|_| self.shim_for(&limit).is_some()) {
            return Err(not_started(format!("`{name}` cannot be started: {why}")));
        }
        let notes = [
            (limit == SandboxLimit::Unsupported).then_some(ProcessNote::Unconfined),
            status.filter(|_| !timed_out).and_then(terminating_signal).map(ProcessNote::Signal),
            (left_behind && !not_ended).then_some(ProcessNote::LeftBehind),
            not_ended.then_some(ProcessNote::NotEnded),
        ];
        let notes = notes.into_iter().flatten().collect();
        Ok(ProcessOutcome { exit_code, timed_out, stdout: stdout.text(), stderr, notes })
    }

    fn build_command(&self, limit: &SandboxLimit<'_>) -> Result<Command, String> {
        let [program, arguments @ ..] = self.argv.as_slice() else { return Err("the command is empty".to_owned()) };
        if self.timeout.is_zero() {
            return Err("no time was left for it".to_owned());
        }
        // If this path were relative, the program's path would be resolved against it twice.
        let working_directory = path::absolute(&self.working_directory).map_err(|error| error.to_string())?;
        if !working_directory.is_dir() {
            return Err(format!("there is no folder `{}`", working_directory.display()));
        }
        let program = resolve_program(program, &working_directory, self.get_variable);
        let writable_paths = match limit {
            SandboxLimit::None | SandboxLimit::Unsupported => None,
            SandboxLimit::Refused => {
                return Err("this system has no Landlock, so its writes cannot be limited".to_owned());
            }
            SandboxLimit::Within(root) => Some(self.writable_paths(root)?),
        };
        let mut command = if let Some(shim) = self.shim_for(limit) {
            let [shim, shim_call @ ..] = shim else { return Err("no shim is configured to confine it".to_owned()) };
            let mut command = Command::new(shim);
            command.args(shim_call).args(shim::shim_arguments(writable_paths, program, arguments));
            command
        } else {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        };
        command.current_dir(working_directory).env_clear().envs(environment(self.extra_variables, self.get_variable));
        Ok(command)
    }

    /// Returns the command that calls the shim, if the shim is needed: for a sandbox or, on Linux, to end the program
    /// together with this process.
    fn shim_for(&self, limit: &SandboxLimit<'_>) -> Option<&[OsString]> {
        let is_needed = matches!(limit, SandboxLimit::Within(_)) || cfg!(target_os = "linux");
        is_needed.then_some(self.shim.as_slice())
    }

    fn writable_paths(&self, root: &path::Path) -> Result<Vec<PathBuf>, String> {
        let root = path::absolute(root).map_err(|error| error.to_string())?;
        if !root.is_dir() {
            return Err(format!("there is no folder `{}`", root.display()));
        }
        Ok(writable_paths(&root, self.get_variable))
    }
}
