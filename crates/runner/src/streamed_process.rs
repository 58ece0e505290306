//! Runs a process and passes its output on immediately. The process is ended after its timeout, after its idle timeout
//! without output, or when the caller stops it. It inherits the whole environment of this process.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{self, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::environment::GetVariable;
use crate::not_started::{NotStarted, not_started};
use crate::process_group::{ProcessGroup, signal};
use crate::program::resolve_program;
use crate::shim;
use crate::watch_action::WatchAction;

/// How often the conditions for ending the process are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long output may still arrive after the process has ended.
const GRACE: Duration = Duration::from_secs(1);
/// The maximum number of queued pieces of output. Beyond that, the process has to wait.
const MAX_QUEUED_PIECES: usize = 16;
const PIECE_SIZE: usize = 16 * 1024;

pub struct StreamedProcess<'a> {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    pub folder: PathBuf,
    /// Variables that are added to our environment, or override it.
    pub variables: Vec<(&'static str, OsString)>,
    /// The stdin of the process; `None` for an empty one.
    pub stdin: Option<Vec<u8>>,
    /// Looks up an environment variable, to find the program.
    pub get_variable: GetVariable<'a>,
    /// The process is ended if it prints nothing for this long, unless `is_busy` returns true.
    pub idle_timeout: Option<Duration>,
    /// Called after the idle timeout. True restarts the timeout.
    pub is_busy: &'a dyn Fn() -> bool,
    /// After this time, the process is ended.
    pub timeout: Option<Duration>,
    /// The command that calls this binary as the shim.
    pub shim: Vec<OsString>,
    /// Called with the id of its process group.
    pub on_start: &'a dyn Fn(u32),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// The process ended by itself, with this exit code.
    Exited(i32),
    /// A signal that we did not send ended the process.
    Signal(i32),
    /// The process was ended after its idle timeout.
    IdleTimeout,
    /// The process was ended after its timeout.
    Timeout,
    /// The process was ended because of [`WatchAction::Stop`].
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl StreamedProcess<'_> {
    /// Runs the process until it ends. `on_output` gets its output; `watch` is called regularly.
    pub fn run(
        mut self,
        mut on_output: impl FnMut(Stream, &[u8]),
        mut watch: impl FnMut() -> WatchAction,
    ) -> Result<ProcessEnd, NotStarted> {
        let name =
            self.argv.first().ok_or_else(|| not_started("it contains no program"))?.to_string_lossy().into_owned();
        let mut running = self.start(&name)?;
        let ended_early = running.wait(&self, &mut on_output, &mut watch);
        if ended_early.is_some() {
            running.group.end(|| true);
        }
        running.drain(&mut on_output);
        running.group.end_rest();
        let status = running.group.status();
        if let Some(end) = ended_early {
            return Ok(end);
        }
        let exit_code = status.and_then(|status| status.code());
        if let Some(why) = shim::failure(exit_code, &String::from_utf8_lossy(&running.first_errors)) {
            return Err(not_started(format!("`{name}` cannot be started: {why}")));
        }
        let by_signal = status.and_then(signal).map(ProcessEnd::Signal);
        Ok(by_signal.unwrap_or(ProcessEnd::Exited(exit_code.unwrap_or(-1))))
    }

    /// Starts the process, and threads that read its output and write its stdin.
    fn start(&mut self, name: &str) -> Result<Running, NotStarted> {
        let failed = |error: io::Error| not_started(format!("`{name}` cannot be started: {error}"));
        let mut command = self.command().map_err(|why| not_started(format!("`{name}` was not started: {why}")))?;
        let (sender, receiver) = sync_channel(MAX_QUEUED_PIECES);
        let (stdout, its_stdout) = io::pipe().map_err(failed)?;
        let (stderr, its_stderr) = io::pipe().map_err(failed)?;
        follow(stdout, Stream::Stdout, sender.clone()).map_err(failed)?;
        follow(stderr, Stream::Stderr, sender).map_err(failed)?;
        command.stdout(its_stdout).stderr(its_stderr);
        match self.stdin.take() {
            None => {
                command.stdin(Stdio::null());
            }
            Some(stdin) => {
                let (its_stdin, mut feed) = io::pipe().map_err(failed)?;
                command.stdin(its_stdin);
                // The process may end without reading all of its stdin.
                thread::Builder::new().spawn(move || drop(feed.write_all(&stdin))).map_err(failed)?;
            }
        }
        let started = Instant::now();
        let group = ProcessGroup::start(command).map_err(failed)?;
        (self.on_start)(group.id());
        Ok(Running { group, receiver, started, last_activity: started, first_errors: Vec::new() })
    }

    fn command(&self) -> Result<Command, String> {
        let [program, arguments @ ..] = self.argv.as_slice() else { return Err("it contains no program".to_owned()) };
        let folder = path::absolute(&self.folder).map_err(|error| error.to_string())?;
        let program = resolve_program(program, &folder, self.get_variable);
        let mut command = match self.shim.as_slice() {
            // Only Linux can end the program together with this process.
            [shim, call @ ..] if cfg!(target_os = "linux") => {
                let mut command = Command::new(shim);
                command.args(call).args(shim::shim_arguments(None, program, arguments));
                command
            }
            _ => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        command.current_dir(folder).envs(self.variables.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

struct Running {
    group: ProcessGroup,
    receiver: Receiver<(Stream, Vec<u8>)>,
    started: Instant,
    /// The time at which the process last showed activity.
    last_activity: Instant,
    /// The start of its stderr, where the shim reports that it failed.
    first_errors: Vec<u8>,
}

impl Running {
    /// Waits until the process ends. If it has to be ended before that, returns the reason.
    fn wait(
        &mut self,
        limits: &StreamedProcess<'_>,
        on_output: &mut impl FnMut(Stream, &[u8]),
        watch: &mut impl FnMut() -> WatchAction,
    ) -> Option<ProcessEnd> {
        let is_over = |limit: Option<Duration>, since: Instant| limit.is_some_and(|limit| since.elapsed() >= limit);
        loop {
            match self.receiver.recv_timeout(POLL_INTERVAL) {
                Ok((stream, piece)) => self.pass_on(stream, &piece, on_output),
                Err(RecvTimeoutError::Timeout) => {}
                // Both streams are closed, so only the end of the process is left to wait for.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL_INTERVAL.min(Duration::from_millis(2))),
            }
            if self.group.has_ended() {
                return None;
            }
            match watch() {
                WatchAction::Continue => {}
                WatchAction::KeepAlive => self.last_activity = Instant::now(),
                WatchAction::Stop => return Some(ProcessEnd::Stopped),
            }
            if is_over(limits.timeout, self.started) {
                return Some(ProcessEnd::Timeout);
            }
            if is_over(limits.idle_timeout, self.last_activity) {
                if !(limits.is_busy)() {
                    return Some(ProcessEnd::IdleTimeout);
                }
                self.last_activity = Instant::now();
            }
        }
    }

    /// Passes on the output that arrives after the process has ended. A process that still holds the pipe afterwards
    /// was left behind.
    fn drain(&mut self, on_output: &mut impl FnMut(Stream, &[u8])) {
        let end = Instant::now() + GRACE;
        while let Ok((stream, piece)) = self.receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.pass_on(stream, &piece, on_output);
            if Instant::now() >= end {
                return;
            }
        }
    }

    fn pass_on(&mut self, stream: Stream, piece: &[u8], on_output: &mut impl FnMut(Stream, &[u8])) {
        self.last_activity = Instant::now();
        if self.first_errors.len() < PIECE_SIZE && stream == Stream::Stderr {
            self.first_errors.extend_from_slice(piece);
        }
        on_output(stream, piece);
    }
}

fn follow(
    mut pipe: impl Read + Send + 'static,
    stream: Stream,
    sender: SyncSender<(Stream, Vec<u8>)>,
) -> io::Result<()> {
    thread::Builder::new()
        .spawn(move || {
            let mut buffer = vec![0; PIECE_SIZE];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(length) => {
                        let piece = buffer.get(..length).unwrap_or_default().to_vec();
                        if sender.send((stream, piece)).is_err() {
                            return;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        })
        .map(drop)
}
