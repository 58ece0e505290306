//! One process, from its start until nothing is left of it.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{self, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::environment::environment;
use crate::group::{Group, after, signal, wait_until};
use crate::heed::Heed;
use crate::not_started::{NotStarted, not_started};
use crate::program::located;
use crate::sandbox::{Confinement, SandboxLimit, writable};
use crate::shim;
use crate::tail::Tail;

/// How long output may still come after a process ended. What holds a pipe longer than this was left behind.
const GRACE: Duration = Duration::from_secs(1);

/// A process to be started: no shell, nothing on its standard input, a group of its own.
pub struct BoundedProcess<'a> {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The working directory; a program that is named by a relative path starts from here.
    pub folder: PathBuf,
    /// Variables that it sees besides [`VARIABLES`](crate::VARIABLES).
    pub variables: &'a [String],
    /// How variables are looked up.
    pub get: &'a dyn Fn(&str) -> Option<OsString>,
    /// After this, the process and all of its group are ended.
    pub timeout: Duration,
    pub confinement: Confinement,
    /// The words that call this binary as the shim, mostly [`shim::own_call`].
    /// A binary whose `main` does not know the word would do something else, and its outcome would be taken for the program's.
    pub shim: Vec<OsString>,
}

/// How a process went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutcome {
    /// None where a signal ended it.
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    /// The end of what it said; at most [`OUTPUT_LIMIT`](crate::OUTPUT_LIMIT) bytes.
    pub stdout: String,
    pub stderr: String,
    pub notes: Vec<ProcessNote>,
}

impl ProcessOutcome {
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }
}

/// What people should know besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessNote {
    /// Confinement was asked for, and this kernel cannot.
    Unconfined,
    /// A signal ended it that was not ours.
    Signal(i32),
    /// It ended, but not what it had started, which was then ended too.
    LeftBehind,
    /// Something that it started has left its group, or cannot be ended.
    NotEnded,
}

impl fmt::Display for ProcessNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unconfined => {
                formatter.write_str("this system has no Landlock, so what it may write was not limited")
            }
            Self::Signal(signal) => write!(formatter, "signal {signal} ended it"),
            Self::LeftBehind => formatter.write_str("it left processes behind that held its output, which were ended"),
            Self::NotEnded => formatter.write_str("processes that it started could not be ended"),
        }
    }
}

/// What a process has said while it runs.
pub struct OutputSoFar<'a> {
    stdout: &'a Tail,
    stderr: &'a Tail,
}

impl OutputSoFar<'_> {
    /// How many bytes it has written. It grows whenever there is something new to read.
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
    /// Runs it to its end, which comes soon after the timeout at the latest.
    pub fn outcome(&self) -> Result<ProcessOutcome, NotStarted> {
        self.watched(&mut |_| Heed::GoOn)
    }

    /// The same. `watch` is called every few milliseconds; it can read the output so far, and end the process.
    pub fn watched(&self, watch: &mut dyn FnMut(&OutputSoFar<'_>) -> Heed) -> Result<ProcessOutcome, NotStarted> {
        self.outcome_if(crate::is_supported(), watch)
    }

    /// The same on a system that supports confinement, or does not.
    pub(crate) fn outcome_if(
        &self,
        is_supported: bool,
        watch: &mut dyn FnMut(&OutputSoFar<'_>) -> Heed,
    ) -> Result<ProcessOutcome, NotStarted> {
        let name = self.words.first().ok_or_else(|| not_started("it names no program"))?.to_string_lossy();
        let limit = self.confinement.limit(is_supported);
        let mut command =
            self.command(&limit).map_err(|why| not_started(format!("`{name}` was not started: {why}")))?;
        let failed = |error: io::Error| not_started(format!("`{name}` cannot be started: {error}"));
        // Read from before the start, so that a process that was started never has nobody to read it.
        let (stdout, its_stdout) = io::pipe().map_err(failed)?;
        let (stderr, its_stderr) = io::pipe().map_err(failed)?;
        let (stdout, stderr) = (Tail::follow(stdout).map_err(failed)?, Tail::follow(stderr).map_err(failed)?);
        command.stdin(Stdio::null()).stdout(its_stdout).stderr(its_stderr);

        let end = after(self.timeout);
        let mut group = Group::start(command).map_err(failed)?;
        let is_silent = || stdout.is_complete() && stderr.is_complete();
        let so_far = OutputSoFar { stdout: &stdout, stderr: &stderr };
        let mut is_cut_short = false;
        let timed_out = !wait_until(end, || {
            is_cut_short = watch(&so_far) == Heed::End;
            is_cut_short || group.has_ended()
        });
        let left_behind = !timed_out && !is_cut_short && !wait_until(after(GRACE), is_silent);
        if timed_out || is_cut_short || left_behind {
            group.end(is_silent);
        } else {
            // What closed its output and stays would do its work unseen.
            group.end_rest();
        }
        let not_ended = !group.has_ended() || !is_silent();

        let status = group.status();
        let exit_code = status.and_then(|status| status.code());
        let stderr = stderr.text();
        if let Some(why) = shim::failure(exit_code, &stderr).filter(|_| self.shim_for(&limit).is_some()) {
            return Err(not_started(format!("`{name}` cannot be started: {why}")));
        }
        let notes = [
            (limit == SandboxLimit::Missing).then_some(ProcessNote::Unconfined),
            status.filter(|_| !timed_out).and_then(signal).map(ProcessNote::Signal),
            (left_behind && !not_ended).then_some(ProcessNote::LeftBehind),
            not_ended.then_some(ProcessNote::NotEnded),
        ];
        let notes = notes.into_iter().flatten().collect();
        Ok(ProcessOutcome { exit_code, timed_out, stdout: stdout.text(), stderr, notes })
    }

    fn command(&self, limit: &SandboxLimit<'_>) -> Result<Command, String> {
        let [program, arguments @ ..] = self.words.as_slice() else { return Err("it names no program".to_owned()) };
        if self.timeout.is_zero() {
            return Err("no time was left for it".to_owned());
        }
        // What is relative would be looked for once more from the working directory.
        let folder = path::absolute(&self.folder).map_err(|error| error.to_string())?;
        if !folder.is_dir() {
            return Err(format!("there is no folder `{}`", folder.display()));
        }
        let program = located(program, &folder, self.get);
        let writable = match limit {
            SandboxLimit::None | SandboxLimit::Missing => None,
            SandboxLimit::Refused => {
                return Err("what it may write cannot be limited, as this system has no Landlock".to_owned());
            }
            SandboxLimit::Within(root) => Some(self.writable(root)?),
        };
        let mut command = if let Some(shim) = self.shim_for(limit) {
            let [shim, call @ ..] = shim else { return Err("there is no shim to confine it".to_owned()) };
            let mut command = Command::new(shim);
            command.args(call).args(shim::words(writable, program, arguments));
            command
        } else {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        };
        command.current_dir(folder).env_clear().envs(environment(self.variables, self.get));
        Ok(command)
    }

    /// The call of the shim, where it is needed: to be limited, or to end with us, which only Linux has.
    fn shim_for(&self, limit: &SandboxLimit<'_>) -> Option<&[OsString]> {
        let is_needed = matches!(limit, SandboxLimit::Within(_)) || cfg!(target_os = "linux");
        is_needed.then_some(self.shim.as_slice())
    }

    fn writable(&self, root: &path::Path) -> Result<Vec<PathBuf>, String> {
        let root = path::absolute(root).map_err(|error| error.to_string())?;
        if !root.is_dir() {
            return Err(format!("there is no folder `{}`", root.display()));
        }
        Ok(writable(&root, self.get))
    }
}
